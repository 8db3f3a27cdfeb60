/** From a document number to what is shown of it: record, marks, snippet, copies. */
import { displayUrl, hostOf } from '../lib/url.ts'
import type { ShownDocument } from '../store/read-documents.ts'
import type { Reader } from '../store/reader.ts'
import { HIGHLIGHT_UNITS_MAX, highlightRanges, snippet } from '../text/highlight.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { Hit, SearchRequest } from './answer.ts'
import type { IndexHit } from './index.ts'
import type { Plan } from './plan.ts'

/** Copies named in a hit; the count goes on. */
const copiesNamedMax = 10
/** Copies with address and title. */
const copiesShownMax = 3
const copiesCountedMax = 1_000
/** Their texts are in memory at once. */
const readTogether = 10

type MadeHit = Omit<Hit, 'more_from_site'>

/** null: the document went away, which only a stale entry of memory can cause. */
export type HitMaker = (
  hits: readonly IndexHit[],
  plan: Plan,
  request: SearchRequest,
) => (MadeHit | null)[]

export function createHitMaker(store: Reader, analyzer: Analyzer): HitMaker {
  return (hits, plan, request) => {
    const made: (MadeHit | null)[] = []
    for (let from = 0; from < hits.length; from += readTogether) {
      const some = hits.slice(from, from + readTogether)
      const docnos = some.map(({ docno }) => docno)
      // One more, so that the snippet sees that the text goes on.
      const records = store.shownByDocno(docnos, HIGHLIGHT_UNITS_MAX + 1)
      for (const [i, record] of records.entries())
        made.push(record && make(record, some[i] as IndexHit, plan, request))
    }
    return made
  }

  function make(
    record: ShownDocument,
    { score, missing }: IndexHit,
    plan: Plan,
    request: SearchRequest,
  ): MadeHit {
    const hasCopies = record.group !== null
    const members = hasCopies ? store.groupOf(record.urlId, copiesCountedMax) : []
    const copies = members.filter(({ id }) => id !== record.id)
    return {
      id: record.id,
      url: record.url,
      display_url: displayUrl(record.url),
      site: hostOf(record.url),
      title: record.title,
      title_ranges: highlightRanges(analyzer, record.title, plan.marked),
      snippet: snippet(analyzer, record.text || record.description, plan.marked, request.snippet),
      lang: record.lang,
      type: record.type,
      published_at: record.published_at,
      fetched_at: record.fetched_at,
      changed_at: record.changed_at,
      size: record.size,
      score: Math.round(score * 1e4) / 1e4,
      missing: [...new Set(missing.map((term) => plan.forms.get(term) ?? term))],
      fields: record.fields,
      duplicates: {
        count: copies.length,
        group: record.group,
        ids: copies.slice(0, copiesNamedMax).map(({ id }) => id),
        items: copies.slice(0, copiesShownMax).map(({ id, url, title }) => ({ id, url, title })),
      },
    }
  }
}
