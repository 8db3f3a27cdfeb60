/** What the second look needs of a page, as numbers: the words of its title and of the beginning of its text. Remembers pages that were read lately. */
import type { Reader } from '../store/reader.ts'
import { isStopWord } from '../text/stopwords.ts'
import type { Analyzer, TermUser } from '../text/tokenize.ts'
import { createWordTable } from '../text/word-table.ts'

const charsRead = 2_000
/** Numbers are 16 bits wide; 0 stands for no word. */
export const numbersMax = 65_535
/** Where more words are known before a query, all is forgotten: with the pages below about 11 MB. */
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
  /** null: there is no such document. */
  read(docno: number): Opening | null
  /** 0 where no page that is remembered holds the form. */
  formNumber(form: string): number
  /** Gives the term a number if it has none; 0 when there are none left. */
  termNumber(term: string): number
  /** The number of the term of a form, by the number of the form. */
  termOfForm(): Uint16Array
  term(number: number): string
}

/** @param gap words between title and text, so that they do not look near each other */
export function createOpenings(
  store: Pick<Reader, 'openingByDocno'>,
  analyzer: Pick<Analyzer, 'eachTerm'>,
  gap: number,
): Openings {
  const pages = createPageMemory()
  const numbers = createNumbers()
  return {
    begin() {
      if (numbers.size() <= wordsKeptMax) return
      numbers.clear()
      pages.clear()
    },
    read(docno) {
      const known = pages.get(docno)
      if (known) return known
      const stored = store.openingByDocno(docno, charsRead)
      if (stored === null) return null
      const { list } = numbers
      list.size = 0
      analyzer.eachTerm(stored.title.slice(0, charsRead), numbers.user)
      const titleForms = list.size
      for (let i = 0; i < gap; i += 1) append(list, 0)
      analyzer.eachTerm(stored.text, numbers.user)
      const opening = { forms: list.numbers.slice(0, list.size), titleForms }
      pages.set(docno, opening)
      return opening
    },
    formNumber: numbers.form,
    termNumber: numbers.term,
    termOfForm: () => numbers.termOfForm,
    term: numbers.textOfTerm,
  }
}

/** Gives forms and terms their numbers; `user` appends to `list` the numbers of what it is told. */
function createNumbers() {
  const forms = new Map<string, number>()
  const terms = new Map<string, number>()
  /** Words without parts as they are written, with the numbers of their forms: so they are taken apart and stemmed once. */
  let words = createWordTable<number>()
  let unknownWord: string | null = null
  let texts = ['']
  const termOfForm = new Uint16Array(numbersMax + 1)
  const list: NumberList = { numbers: new Uint16Array(4_096), size: 0 }

  const term = (text: string): number => {
    let number = terms.get(text)
    if (number === undefined) {
      if (texts.length > numbersMax) return 0
      number = texts.push(text) - 1
      terms.set(text, number)
    }
    return number
  }
  const numberOf = (text: string, form: string): number => {
    let number = forms.get(form)
    if (number === undefined) {
      number = isStopWord(form) || forms.size >= numbersMax ? 0 : forms.size + 1
      if (number > 0) termOfForm[number] = term(text)
      if (forms.size < numbersMax) forms.set(form, number)
    }
    return number
  }
  const user: TermUser = {
    isKnown(text, start, end) {
      const number = words.get(text, start, end)
      if (number === undefined) unknownWord = text.slice(start, end)
      else if (number > 0) append(list, number)
      return number !== undefined
    },
    term(text, form) {
      const number = numberOf(text, form)
      if (unknownWord !== null) {
        // A copy: a slice would keep the page alive. Such words are of ASCII.
        words.set(Buffer.from(unknownWord, 'latin1').toString('latin1'), number)
        unknownWord = null
      }
      if (number > 0) append(list, number)
    },
  }
  return {
    list,
    user,
    term,
    termOfForm,
    form: (text: string): number => forms.get(text) ?? 0,
    textOfTerm: (number: number): string => texts[number] ?? '',
    size: () => Math.max(forms.size, texts.length, words.size),
    clear(): void {
      words = createWordTable()
      forms.clear()
      terms.clear()
      texts = ['']
    },
  }
}

type NumberList = { numbers: Uint16Array<ArrayBuffer>; size: number }

function append(list: NumberList, number: number): void {
  if (list.size === list.numbers.length) {
    const wider = new Uint16Array(list.numbers.length * 2)
    wider.set(list.numbers)
    list.numbers = wider
  }
  list.numbers[list.size++] = number
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
