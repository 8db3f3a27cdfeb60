/** What the second look needs of a page, as numbers: the words of its title and of the beginning of its text. Remembers pages that were read lately. */
import type { TextOpening } from '../store/read-documents.ts'
import type { Reader } from '../store/reader.ts'
import type { Analyzer } from '../text/tokenize.ts'
import { WordNumbers } from './word-numbers.ts'

const charsRead = 2_000
/** Where more words are known before a query, all is forgotten: with the pages below about 6 MB. */
const wordsKeptMax = 49_152
const pageBytesMax = 3 * 1_024 * 1_024
/** Of a page beside its numbers: object, array, entry. */
const pageOverheadBytes = 250

export type Opening = {
  /** Numbers of word forms in order, without stop words: those of the title, a gap of zeros, those of the text. */
  forms: Uint16Array
  titleForms: number
}

export type Openings = {
  /** Before each query: the only moment at which numbers change their meaning. */
  begin(): void
  /** null for a document that there is not. */
  read(docnos: readonly number[]): (Opening | null)[]
  numbers: WordNumbers
}

/** @param gap words between title and text, so that they do not look near each other */
export function createOpenings(
  store: Pick<Reader, 'openingsByDocno'>,
  analyzer: Pick<Analyzer, 'eachTerm' | 'termOf'>,
  gap: number,
): Openings {
  const pages = createPageMemory()
  const numbers = new WordNumbers((form) => analyzer.termOf(form))
  const number = (docno: number, { title, text }: TextOpening): Opening => {
    analyzer.eachTerm(title.slice(0, charsRead), numbers.user)
    const titleForms = numbers.listed()
    for (let i = 0; i < gap; i += 1) numbers.append(0)
    analyzer.eachTerm(text, numbers.user)
    const opening = { forms: numbers.take(), titleForms }
    pages.set(docno, opening)
    return opening
  }
  return {
    begin() {
      if (numbers.known() <= wordsKeptMax) return
      numbers.clear()
      pages.clear()
    },
    read(docnos) {
      const known = docnos.map((docno) => pages.get(docno) ?? null)
      const unknown = docnos.filter((_, i) => known[i] === null)
      const read = store.openingsByDocno(unknown, charsRead)
      let next = 0
      return known.map((opening, i) => {
        if (opening !== null) return opening
        const stored = read[next++] ?? null
        return stored && number(docnos[i] as number, stored)
      })
    },
    numbers,
  }
}

/** The least recently used page goes first. A changed page has another docno, so nothing here grows stale. */
function createPageMemory() {
  const pages = new Map<number, Opening>()
  let bytes = 0
  const bytesOf = ({ forms }: Opening): number => forms.byteLength + pageOverheadBytes
  return {
    get(docno: number): Opening | undefined {
      const page = pages.get(docno)
      if (page === undefined) return undefined
      pages.delete(docno)
      pages.set(docno, page)
      return page
    },
    set(docno: number, page: Opening): void {
      pages.set(docno, page)
      bytes += bytesOf(page)
      for (const [oldest, old] of pages) {
        if (bytes <= pageBytesMax) break
        pages.delete(oldest)
        bytes -= bytesOf(old)
      }
    },
    clear(): void {
      pages.clear()
      bytes = 0
    },
  }
}
