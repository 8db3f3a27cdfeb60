/** Words of queries and passages seen before, with their places and forms, so that each is folded, split and stemmed once. Pages are counted by word-memory.ts. */
import { isStopWord } from './stopwords.ts'
import { createWordTable, type WordTable } from './word-table.ts'
import { splitWord, TERM_UNITS_MAX, type WordPart } from './words.ts'

/** `isStop`: its text is a stop word, unstemmed. */
export type Term = { text: string; isStop: boolean }

/** Units [start, end) of the raw word; `form` is folded and not stemmed: it, not the term, decides whether this is a stop word (others, other). */
export type WordTerm = WordPart & { term: Term; isStop: boolean }

/** `counted` = how many words it adds to the length of a document. */
export type Word = { whole: WordTerm | null; parts: readonly WordTerm[]; counted: number }

export type TermMemory = {
  /** The one `Term` of this text. */
  term(text: string): Term
  /** The analysis of the word of an alphabet that `eachRun` found at units [start, end). Its parts count from there. */
  word(text: string, start: number, end: number): Word
  /** The term of units [start, end) of a Han run that the dictionary calls `id`. */
  hanTerm(run: string, start: number, end: number, id: number): Term
  /** Forgets what was not seen for long where it has grown large. Only between texts: what is one term stays one `Term` meanwhile. */
  trim(): void
}

/** Words and terms of one generation, about 5 MB. There are two. */
const GENERATION_MAX = 32_768
/** Above it V8 makes slices, which would keep the whole page alive. */
const COPIED_UNITS_MAX = 12
const STEMMED = /^[a-z]+$/
/** What Porter2 may take off or change, at the end of a word. */
const ENDING = /(?:[esyl]|ed|ing|ion|[ae]nt|i|ism|er|or|ic)$/

/** The term of a form, without a memory. @param stem gets words of a-z */
export const stemmed = (form: string, stem: (word: string) => string): string =>
  STEMMED.test(form) && ENDING.test(form) ? stem(form) : form

/** Shared by all plain words. */
const noParts: readonly WordTerm[] = []

type Generation = {
  words: WordTable<Word>
  terms: Map<string, Term>
  hanTerms: Map<number, Term>
}
/** @param words whose room is used again; what they hold is forgotten */
function newGeneration(words: WordTable<Word>): Generation {
  words.clear()
  return { words, terms: new Map(), hanTerms: new Map() }
}

/** Of a word that is its own form, where that is known. */
function termAs(form: string, words: WordTable<Word>): Term | null {
  const whole = words.get(form, 0, form.length)?.whole
  return whole?.form === form ? whole.term : null
}

/**
 * `stem` gets words of a-z. A full generation becomes the old one, and what is used again is taken over from there.
 * Invariant: the terms of a young word, and young Han terms, are in the young `terms`.
 */
export function createTermMemory(stem: (word: string) => string): TermMemory {
  let young = newGeneration(createWordTable())
  let old = newGeneration(createWordTable())

  function term(text: string): Term {
    let found = young.terms.get(text)
    if (found === undefined) {
      found = old.terms.get(text)
      found ??= { text: ownCopy(text), isStop: isStopWord(text) }
      young.terms.set(found.text, found)
    }
    return found
  }

  /** A form of a-z is a word by itself: where that is known, it need not be stemmed again. */
  function termOf(form: string): Term {
    const known = termAs(form, young.words)
    if (known !== null) return known
    const before = termAs(form, old.words)
    return term(before?.text ?? stemmed(form, stem))
  }

  function withTerm({ form, start, end }: WordPart): WordTerm {
    return { form, start, end, term: termOf(form), isStop: isStopWord(form) }
  }

  function makeWord(raw: string): Word {
    const split = splitWord(raw)
    const whole = split.whole && withTerm(split.whole)
    if (split.parts.length === 0) {
      return { whole, parts: noParts, counted: whole === null || whole.isStop ? 0 : 1 }
    }
    const parts = split.parts.map(withTerm)
    let counted = 0
    for (const { isStop } of parts) if (!isStop) counted += 1
    return { whole, parts, counted }
  }

  function again({ form, start, end, term: { text }, isStop }: WordTerm): WordTerm {
    return { form, start, end, term: term(text), isStop }
  }

  function takeOver({ whole, parts, counted }: Word): Word {
    const partsAgain = parts.length === 0 ? noParts : parts.map(again)
    return { whole: whole && again(whole), parts: partsAgain, counted }
  }

  return {
    term,
    word(text, start, end) {
      let word = young.words.get(text, start, end)
      if (word !== undefined) return word
      const own = ownCopy(text.slice(start, end))
      const before = old.words.get(own, 0, own.length)
      word = before ? takeOver(before) : makeWord(own)
      if (own.length <= 2 * TERM_UNITS_MAX) young.words.set(own, word)
      return word
    },
    hanTerm(run, start, end, id) {
      let found = young.hanTerms.get(id)
      if (found === undefined) {
        const text = run.slice(start, end)
        found = term(text)
        if (id >= 0) young.hanTerms.set(id, found)
      }
      return found
    },
    trim() {
      if (young.words.size + young.terms.size < GENERATION_MAX) return
      const { words } = old
      old = young
      young = newGeneration(words)
    },
  }
}

const ownCopy = (text: string): string =>
  text.length <= COPIED_UNITS_MAX ? text : Buffer.from(text, 'utf16le').toString('utf16le')
