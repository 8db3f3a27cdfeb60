/** Stored documents under other word lists: they are dropped, masked or flagged as if they came now. What was masked before stays masked. */
import { packText } from '../lib/packed-text.ts'
import { keywordsWhere } from '../store/keywords.ts'
import type { WordHit } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { WholeDocument } from '../store/word-hits.ts'
import { type FoundWord, judgeWords } from '../text/judge-words.ts'
import type { WordMatcher } from '../text/word-match.ts'
import { postingsOf } from './commit.ts'
import type { Duplicates } from './duplicates.ts'
import { judgeFields, judgeSaid, withFlags } from './filter-page.ts'
import { recognise } from './fingerprint-fields.ts'

export type Rejudged = {
  /** Docnos to be indexed from what is stored, and how many went. */
  promoted: number[]
  removed: number
  judged: number
  changed: number
  /** The last document that was judged. */
  last: number
}

type Tools = { store: Store; duplicates: Duplicates }

/**
 * Judges documents in docno order until the time is up, at least one, in one transaction with the watermark `words_cursor`. What is rewritten
 * gets a new docno: it is judged once more, without a change.
 * @param matcher null: no list is in force
 */
export function rejudge(
  documents: readonly WholeDocument[],
  matcher: WordMatcher | null,
  { store, duplicates }: Tools,
  untilMs: number,
): Rejudged {
  const result: Rejudged = { promoted: [], removed: 0, judged: 0, changed: 0, last: 0 }
  let isCommitted = false
  try {
    store.transaction(() => {
      for (const document of documents) {
        // A copy may have moved on when its original changed, a moment ago.
        if (store.documentByUrlId(document.urlId) !== null)
          judgeOne(document, matcher, { store, duplicates }, result)
        result.judged += 1
        result.last = document.docno
        if (performance.now() >= untilMs) break
      }
      store.meta.set('words_cursor', result.last)
    })
    isCommitted = true
  } finally {
    if (!isCommitted) duplicates.rolledBack()
  }
  return result
}

function judgeOne(
  document: WholeDocument,
  matcher: WordMatcher | null,
  tools: Tools,
  result: Rejudged,
): void {
  const { store, duplicates } = tools
  const { urlId, extra } = document
  const before = store.wordHitsOf(urlId)
  if (matcher === null && before.length === 0) return
  const judge = matcher === null ? null : judgeWords(matcher)
  const read = (place: string, text: string): string => judge?.read(place, text) ?? text
  const said = { ...extra, title: document.title }
  const parts = judge === null ? said : judgeSaid(said, judge)
  const text = read('text', document.text)
  const rest = read('rest', document.rest)
  const fields = judge === null ? extra.fields : judgeFields(extra.fields, judge)
  const found = judge?.found() ?? []
  const hits = withMasked(found, before)
  if (judge?.isDropped() === true) {
    duplicates.remove(urlId)
    const removed = store.removeDocument(urlId)
    if (removed?.promoted) result.promoted.push(removed.promoted.docno)
    store.putWordHits(urlId, found)
    store.settleFiltered(urlId)
    result.removed += 1
    result.changed += 1
    return
  }
  if (JSON.stringify(hits) !== JSON.stringify(before)) store.putWordHits(urlId, hits)
  const keywords =
    judge === null
      ? extra.keywords
      : keywordsWhere(extra.keywords, (word) => {
          const isMasked = judge.mask(word) !== word
          if (isMasked) store.forgetKeyword(word)
          return !isMasked
        })
  const judged = {
    ...extra,
    description: parts.description,
    author: parts.author,
    headings: parts.headings,
    keywords,
    fields: withFlags(fields, found, before),
  }
  const isOtherText = text !== document.text
  const isSame =
    !isOtherText &&
    rest === document.rest &&
    parts.title === document.title &&
    JSON.stringify(judged) === JSON.stringify(extra)
  if (isSame) return
  rewrite(
    { ...document, title: parts.title, text, rest, extra: judged },
    isOtherText,
    tools,
    result,
  )
  result.changed += 1
}

/** Masked words cannot be found again, but the page is still without them. */
const withMasked = (found: readonly FoundWord[], before: readonly WordHit[]): WordHit[] => {
  const isFound = (hit: WordHit): boolean =>
    found.some(({ list, word }) => list === hit.list && word === hit.word)
  return [...found, ...before.filter((hit) => hit.policy === 'mask' && !isFound(hit))].toSorted(
    (a, b) => (a.list < b.list ? -1 : a.list > b.list ? 1 : a.word < b.word ? -1 : 1),
  )
}

function rewrite(
  { text, rest, copyOf, ...document }: WholeDocument,
  isOtherText: boolean,
  { store, duplicates }: Tools,
  result: Rejudged,
): void {
  const { urlId, hostId } = document
  const { title, publishedAtMs, extra } = document
  const names = extra.fingerprintFields
  // A page that was stored without looking for copies has no place among them.
  const mayFold = (isOtherText || names !== undefined) && duplicates.group(urlId, 1).length > 0
  const placed = mayFold
    ? duplicates.place({
        urlId,
        hostId,
        ...recognise({ ...extra, title, text, publishedAtMs }, names, store.fingerprintSeed),
      })
    : null
  const put = store.putDocument({
    ...document,
    copyOf: placed === null ? copyOf : postingsOf(placed, names),
    body: packText(text),
    rest: rest === '' ? null : packText(rest),
    changed: true,
  })
  store.keepWishes(put.docno, document)
  if (put.promoted !== null) result.promoted.push(put.promoted.docno)
  if (put.copyOf === null) result.promoted.push(put.docno)
}
