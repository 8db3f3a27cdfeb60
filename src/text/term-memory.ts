/** Words seen before and their terms, so that each is folded, split and stemmed once. Holds the counters of the document at hand; counts nothing itself. */
import { isStopWord } from './stopwords.ts'
import { splitWord, TERM_UNITS_MAX, type WordPart } from './words.ts'

/** A term with its count in one document: `frequency` is that of document number `document`. */
export type Term = { text: string; isStop: boolean; document: number; frequency: number }

/** Units [start, end) of the raw word; `form` is folded and not stemmed. */
export type WordTerm = WordPart & { term: Term }

/** `counted` = how many words it adds to the length of a document. */
export type Word = { whole: WordTerm | null; parts: readonly WordTerm[]; counted: number }

export type TermMemory = {
  /** The one `Term` of this text; `form` decides whether it is a stop word. */
  term(text: string, form: string): Term
  /** The analysis of a word of an alphabet, as `eachRun` found it. */
  word(raw: string): Word
  isKnown(raw: string): boolean
  /** The term of units [start, end) of a Han run that the dictionary calls `id`. */
  hanTerm(run: string, start: number, end: number, id: number): Term
  /** Forgets all where it has grown too large. Only between documents: terms of one text must stay one object meanwhile. */
  trim(): void
}

/** Words and terms together, about 3 MB. */
const REMEMBERED_MAX = 24_576
/** Above it V8 makes slices, which would keep the whole page alive. */
const COPIED_UNITS_MAX = 12
const STEMMED = /^[a-z]+$/

/** `stem` gets words of a-z. */
export function createTermMemory(stem: (word: string) => string): TermMemory {
  const words = new Map<string, Word>()
  const terms = new Map<string, Term>()
  const hanTerms = new Map<number, Term>()

  function term(text: string, form: string): Term {
    let found = terms.get(text)
    if (found === undefined) {
      found = { text: ownCopy(text), isStop: isStopWord(form), document: -1, frequency: 0 }
      terms.set(found.text, found)
    }
    return found
  }

  function makeWord(raw: string): Word {
    const split = splitWord(raw)
    const withTerm = (part: WordPart): WordTerm => {
      const text = STEMMED.test(part.form) ? stem(part.form) : part.form
      return { ...part, term: term(text, part.form) }
    }
    const whole = split.whole && withTerm(split.whole)
    const parts = split.parts.map(withTerm)
    const counted = parts.length > 0 ? parts : whole ? [whole] : []
    return { whole, parts, counted: counted.filter((one) => !one.term.isStop).length }
  }

  return {
    term,
    word(raw) {
      let word = words.get(raw)
      if (word === undefined) {
        const own = ownCopy(raw)
        word = makeWord(own)
        if (raw.length <= 2 * TERM_UNITS_MAX) words.set(own, word)
      }
      return word
    },
    isKnown: (raw) => words.has(raw),
    hanTerm(run, start, end, id) {
      let found = hanTerms.get(id)
      if (found === undefined) {
        const text = run.slice(start, end)
        found = term(text, text)
        if (id >= 0) hanTerms.set(id, found)
      }
      return found
    },
    trim() {
      if (words.size + terms.size < REMEMBERED_MAX) return
      words.clear()
      terms.clear()
      hanTerms.clear()
    },
  }
}

const ownCopy = (text: string): string =>
  text.length <= COPIED_UNITS_MAX ? text : Buffer.from(text, 'utf16le').toString('utf16le')
