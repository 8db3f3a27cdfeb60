/** Which page of a group of copies is shown as the original, and why: by rules over what is stored of them, whoever came first into the index. */
import { siteOwner } from '../lib/url.ts'
import type { Db } from '../lib/sqlite.ts'

/** A page of a group. */
export type Candidate = {
  urlId: number
  url: string
  /** Since when it has had this text, or one like it; 0 = always, as far as is known. */
  sinceMs: number
  /** The address that it names as its own. */
  canonical: string | null
  /** Pages that link to it, in steps: 0, 4, 8, 16 ... */
  inlinks: number
}

/**
 * What speaks for the original, in the order in which it counts: its copy names it as canonical, or another page of its site does; an
 * operator named its site; it was there earlier (within one site: by a day); its address is shorter; more pages link to it.
 */
export type OriginReason = 'canonical' | 'own-host' | 'earlier' | 'shorter' | 'more-links'

export type Originals = {
  /** null where the group has no second page. */
  originalOf(group: number): Original | null
}
export type Original = Candidate & { reasonsAgainst(copy: Candidate): OriginReason[] }

/** Of a large group the centre and those that came first are looked at. */
const candidatesMax = 64
/** Pages of one site that a crawl met within this time are equally old: which came first was chance. */
const sameAgeMs = 86_400_000

/** @param ownSites who answers for what operators named: `siteOwner` of the seeds */
export function chooseOriginal(
  candidates: readonly Candidate[],
  ownSites: ReadonlySet<string>,
): Original | null {
  const all = candidates.map((candidate) => ({ ...candidate, site: siteOwner(candidate.url) }))
  const byUrl = new Map(all.map((one) => [one.url, one]))
  /**
   * A page may step back behind another, of any site; none may step before one by itself. Pages that name each other in a circle stand:
   * if all of them stepped back, whoever comes later would be left.
   */
  const cedes = (one: Candidate): boolean => {
    const passed = new Set<string>()
    for (let at = one; ;) {
      if (passed.has(at.url)) return false
      passed.add(at.url)
      const next = at.canonical === null || at.canonical === at.url ? null : at.canonical
      const other = next === null ? undefined : byUrl.get(next)
      if (other === undefined) return at.url !== one.url
      at = other
    }
  }
  const named = new Set(
    all
      .filter(({ canonical, site }) => canonical !== null && byUrl.get(canonical)?.site === site)
      .map(({ canonical }) => canonical),
  )
  const standing = all.filter((one) => !cedes(one))
  const kept = standing.length > 0 ? standing : all
  const firstOf = (site: string): number =>
    Math.min(...all.filter((one) => one.site === site).map(({ sinceMs }) => sinceMs))
  const firsts = new Map(all.map(({ site }) => [site, firstOf(site)]))

  const rules = rulesOf({ named, ownSites, firsts })
  const [first, ...rest] = kept
  if (first === undefined) return null
  // Sites first: the best page of the best site, so that the order has no circles.
  const bySite = Map.groupBy([first, ...rest], ({ site }) => site)
  const bests = [...bySite.values()].map((pages) => pages.reduce(better(rules)))
  const original = bests.reduce(better(rules))
  return {
    ...original,
    reasonsAgainst: (copy) => {
      const against = { ...copy, site: siteOwner(copy.url) }
      const isNamed = copy.canonical === original.url && cedes(copy)
      const reasons = rules
        .filter(({ of }) => of(original, against) > 0)
        .map(({ reason }) => reason)
      if (isNamed && !reasons.includes('canonical')) reasons.unshift('canonical')
      return reasons.length > 0 ? reasons : ['earlier']
    },
  }
}

type Sited = Candidate & { site: string }
/** Positive: it speaks for the first; negative: for the second. */
type Rule = { reason: OriginReason; of: (a: Sited, b: Sited) => number }

function rulesOf({
  named,
  ownSites,
  firsts,
}: {
  named: ReadonlySet<string | null>
  ownSites: ReadonlySet<string>
  firsts: ReadonlyMap<string, number>
}): Rule[] {
  const first = ({ site }: Sited): number => firsts.get(site) ?? Number.POSITIVE_INFINITY
  const age = (one: Sited): number => Math.floor((one.sinceMs - first(one)) / sameAgeMs)
  const isSameSite = (a: Sited, b: Sited): boolean => a.site === b.site
  const rule = (reason: OriginReason, of: Rule['of']): Rule => ({ reason, of })
  return [
    // Whom a site calls its own page is its own affair only.
    rule('canonical', (a, b) =>
      isSameSite(a, b) ? Number(named.has(a.url)) - Number(named.has(b.url)) : 0,
    ),
    rule('own-host', (a, b) => Number(ownSites.has(a.site)) - Number(ownSites.has(b.site))),
    // Of different sites any earlier one: what comes later can never take the place.
    rule('earlier', (a, b) => sign(isSameSite(a, b) ? age(b) - age(a) : first(b) - first(a))),
    rule('shorter', (a, b) => sign(b.url.length - a.url.length)),
    rule('more-links', (a, b) => sign(a.inlinks - b.inlinks)),
  ]
}

const sign = (value: number): number => (Number.isNaN(value) ? 0 : Math.sign(value))

/** Where no rule speaks, the earlier, and at last the one that was known first. */
const better =
  (rules: readonly Rule[]) =>
  (a: Sited, b: Sited): Sited => {
    for (const { of } of rules) {
      const said = of(a, b)
      if (said !== 0) return said > 0 ? a : b
    }
    return a.sinceMs < b.sinceMs || (a.sinceMs === b.sinceMs && a.urlId < b.urlId) ? a : b
  }

export function createOriginals(db: Db): Originals {
  const candidates = db.prepare<Candidate>(
    `SELECT f.url_id AS urlId, h.origin || u.path AS url, coalesce(f.since, 0) AS sinceMs, u.inlinks,
       json_extract(t.extra, '$.canonical') AS canonical
     FROM (SELECT url_id FROM fingerprint WHERE grp = ? AND role = 0 UNION ALL
       SELECT * FROM (SELECT url_id FROM fingerprint INDEXED BY fingerprint_since WHERE grp = ? AND role <> 0
         ORDER BY since, url_id LIMIT ${candidatesMax - 1})) c
     JOIN fingerprint f ON f.url_id = c.url_id JOIN url u ON u.id = f.url_id JOIN host h ON h.id = u.host
       LEFT JOIN doc d ON d.url_id = f.url_id LEFT JOIN doc_text t ON t.docno = d.docno
     ORDER BY f.url_id`,
  )
  const seeds = db.prepare<{ seed: string }>(
    "SELECT DISTINCT j.value AS seed FROM job, json_each(job.spec, '$.spec.seeds') j",
  )
  let jobs = -1
  let ownSites: ReadonlySet<string> = new Set()
  const countJobs = db.prepare<{ n: number }>('SELECT count(*) AS n FROM job')
  const owners = (): ReadonlySet<string> => {
    const count = countJobs.value() ?? 0
    // Jobs are never changed in what they ask for, and rarely removed.
    if (count !== jobs) ownSites = new Set(seeds.all().map(({ seed }) => siteOwner(seed)))
    jobs = count
    return ownSites
  }
  return {
    originalOf(group) {
      const pages = candidates.all(group, group)
      return pages.length < 2 ? null : chooseOriginal(pages, owners())
    },
  }
}
