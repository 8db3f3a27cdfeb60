/** What became of the seeds of a job: which of them could not be had, and why, in words. A crawl that reached none of them has failed. */
import type { UrlRow, Urls } from '../store/urls.ts'

export type SeedProblem = { seed: string; problem: string }

/** Redirects followed from a seed to where it ended. */
const hopsMax = 10
/** Seeds named in the note of a job. */
const namedMax = 3
const noteCharsMax = 500

/** Refused, but read: a way to other pages, or a page that somebody does not want. */
const readAllTheSame: ReadonlySet<string> = new Set([
  'list',
  'noindex',
  'filtered',
  'copy',
  'host-limit',
])

const words: Readonly<Record<string, string>> = {
  robots: 'robots.txt refuses it',
  'robots-unreachable': 'robots.txt of the host could not be read',
  dns: 'the host has no address',
  connect: 'the host does not take connections',
  timeout: 'the host did not answer in time',
  reset: 'the host broke the connection off',
  tls: 'the encrypted connection failed',
  protocol: 'the answer was no HTTP',
  proxy: 'the proxy could not be reached',
  login: 'the login was lost',
  'guard-address': 'its address is private, see --allow-private',
  'guard-port': 'its port is not allowed',
  forbidden: 'access is forbidden',
  'server-error': 'the server has an error',
  type: 'it is of a type that is not read',
  size: 'it is too large',
  empty: 'it is empty',
}

/** Those that could not be had, in the order of the seeds, as the rows of the URLs tell after a run. */
export function seedProblems(
  seeds: readonly string[],
  store: Pick<Urls, 'urlRow'>,
): readonly SeedProblem[] {
  return seeds.flatMap((seed): SeedProblem[] => {
    const problem = problemOf(seed, store)
    return problem === null ? [] : [{ seed, problem }]
  })
}

function problemOf(seed: string, store: Pick<Urls, 'urlRow'>): string | null {
  let url = seed
  let row = store.urlRow(seed)
  for (let hops = 0; row?.outcome === 'redirect' && row.reason !== null; hops++) {
    if (hops === hopsMax) return `it leads on and on, last to ${url}`
    url = row.reason
    row = store.urlRow(url)
    if (row === null) return `it leads to ${url}, which is out of scope`
  }
  const problem = row === null ? 'it was not asked for' : troubleOf(row)
  return problem === null || url === seed ? problem : `it leads to ${url}: ${problem}`
}

function troubleOf({ state, outcome, reason, status }: UrlRow): string | null {
  if (state === 'aside') return 'it was put aside, see explain'
  const answer = status === null || status < 400 ? '' : ` (status ${status})`
  switch (outcome) {
    case null:
      return 'its host was not asked: it does not answer'
    case 'gone':
      return `there is no such page${answer}`
    case 'missing':
    case 'failed':
    case 'refused':
      if (outcome === 'refused' && readAllTheSame.has(reason ?? '')) return null
      return reason === null
        ? `there is no such page${answer}`
        : `${words[reason] ?? reason}${answer}`
    default:
      return null
  }
}

/** How a job ends that has nothing left to do. @param waiting a sentence on what still waits, or '' */
export function endOf(
  seeds: readonly string[],
  problems: readonly SeedProblem[],
  waiting: string,
): { state: 'done' | 'failed'; note: string } {
  const isFailed = problems.length > 0 && problems.length === seeds.length
  const named = problems.slice(0, namedMax).map(({ seed, problem }) => `${seed}: ${problem}`)
  if (problems.length > namedMax) named.push(`and ${problems.length - namedMax} more`)
  const head = isFailed
    ? seeds.length === 1
      ? 'the seed could not be had'
      : `none of the ${seeds.length} seeds could be had`
    : `${problems.length} of ${seeds.length} seeds could not be had`
  const told = problems.length === 0 ? [] : [`${head}: ${named.join('; ')}`]
  const note = [...(waiting === '' ? [] : [waiting]), ...told].join('; ')
  const isLong = note.length > noteCharsMax
  return {
    state: isFailed ? 'failed' : 'done',
    note: isLong ? `${note.slice(0, noteCharsMax)}...` : note,
  }
}
