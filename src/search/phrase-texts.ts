/** Which pages hold a phrase by what is written on them. What was read is kept: a document never changes its text, a changed page has another number. */
import { RoaringSet } from '../lib/roaring.ts'
import { unpackText } from '../lib/packed-text.ts'
import type { Reader } from '../store/reader.ts'
import { foldText } from '../text/normalize.ts'
import { holdsPhrase, type Phrase } from '../text/phrase.ts'
import { createSet, type DocnoSet, eachOf, insert } from './docno-set.ts'

/** Pages that hold a phrase, and pages that do not. */
type Verdicts = { yes: RoaringSet; no: RoaringSet }

const bytesMax = 2 * 1_024 * 1_024
const phrasesMax = 200
/** What is asked for once and costs little is not worth its place. */
const keptMin = 32

export class PhraseTexts {
  readonly #statements: ReturnType<typeof prepare>
  /** The one that was not asked for longest comes first. */
  readonly #kept = new Map<string, Verdicts>()

  constructor(store: Reader) {
    this.#statements = prepare(store)
  }

  /** Those of the candidates that hold it; `isExact` = false where time ran out before all were read. */
  judge(
    phrase: Phrase,
    candidates: DocnoSet,
    limit: number,
    untilMs: number,
  ): { set: DocnoSet; isExact: boolean } {
    const key = phrase.chunks.join(' ')
    const verdicts = this.#kept.get(key) ?? { yes: new RoaringSet(), no: new RoaringSet() }
    const set = createSet(limit)
    let read = 0
    let isExact = true
    eachOf(candidates, (docno) => {
      let holds = verdicts.yes.has(docno)
      if (!holds && !verdicts.no.has(docno)) {
        // Known ones go on to be taken: no look at the clock for them.
        if (!isExact || performance.now() > untilMs) {
          isExact = false
          return true
        }
        holds = this.#holds(docno, phrase)
        verdicts[holds ? 'yes' : 'no'].add(docno)
        read += 1
      }
      if (holds) insert(set, docno)
      return true
    })
    this.#keep(key, verdicts, read)
    return { set, isExact }
  }

  /** Most phrases stand in the text: title and rest, in other rows or pages of it, are read where they do not. */
  #holds(docno: number, phrase: Phrase): boolean {
    const { text, title, rest } = this.#statements
    const row = text.get(docno)
    return (
      row !== undefined &&
      (holdsPhrase(foldText(unpackText(row.body)), phrase) ||
        holdsPhrase(foldText(title.value(docno) ?? ''), phrase) ||
        holdsPhrase(foldText(unpackText(rest.get(docno)?.rest ?? null)), phrase))
    )
  }

  #keep(key: string, verdicts: Verdicts, read: number): void {
    const known = this.#kept.delete(key)
    if (!known && read < keptMin) return
    if (read > 0) for (const set of [verdicts.yes, verdicts.no]) set.pack()
    this.#kept.set(key, verdicts)
    let bytes = 0
    for (const each of this.#kept.values()) bytes += each.yes.bytes + each.no.bytes
    for (const [oldest, { yes, no }] of this.#kept) {
      if (oldest === key || (bytes <= bytesMax && this.#kept.size <= phrasesMax)) break
      bytes -= yes.bytes + no.bytes
      this.#kept.delete(oldest)
    }
  }
}

const prepare = ({ db }: Reader) => ({
  text: db.prepare<{ body: Uint8Array }>('SELECT body FROM doc_text WHERE docno=?'),
  rest: db.prepare<{ rest: Uint8Array | null }>('SELECT rest FROM doc_text WHERE docno=?'),
  title: db.prepare<{ title: string }>('SELECT title FROM doc WHERE docno=?'),
})
