/**
 * Numbers for the forms of words, and for their terms. Plain words live in typed arrays, as most of a page's are never asked for: no string is
 * made of them, and none is stemmed before somebody wants to know its term.
 */
import { hashOf } from '../text/plain-words.ts'
import { isStopWord, stopWords } from '../text/stopwords.ts'
import type { Analyzer, TermUser } from '../text/tokenize.ts'
import { isSimple } from '../text/words.ts'

/** Numbers are 16 bits wide; 0 stands for no word. */
export const numbersMax = 65_535
/** At most half full. */
const slotsCount = 131_072
const unitsAtFirst = 65_536

const plainStopWords = [...stopWords].filter((word) => isSimple(word, 0, word.length))

export class WordNumbers {
  readonly #termOf: (form: string) => string
  /** Plain forms by hash: open addressing. */
  readonly #slots = new Uint16Array(slotsCount)
  /* By form, of plain ones. The hash has no secret: a page made to collide runs into the time limit of its query. */
  readonly #hashes = new Int32Array(numbersMax + 1)
  readonly #starts = new Uint32Array(numbersMax + 1)
  readonly #lengths = new Uint8Array(numbersMax + 1)
  #units = Buffer.allocUnsafeSlow(unitsAtFirst)
  #unitsSize = 0
  /** The first ones are plain stop words, which are in no list. */
  #forms = 0
  #stopForms = 0
  #others = new Map<string, number>()
  /** By form; 0 = nobody has asked yet. */
  readonly #terms = new Uint16Array(numbersMax + 1)
  #termNumbers = new Map<string, number>()
  #texts = ['']
  #list = new Uint16Array(4_096)
  #listed = 0

  /** @param termOf as that of an analyzer */
  constructor(termOf: Analyzer['termOf']) {
    this.#termOf = termOf
    this.clear()
  }

  /** Appends the number of each word that it is told of to the list; stop words have none. */
  readonly user: Required<TermUser> = {
    plain: (text, start, end, hash) => {
      const number = this.#plainForm(text, start, end, hash)
      if (number > this.#stopForms) this.append(number)
    },
    term: (term, form) => {
      const number = this.#formOf(form)
      if (number === 0) return
      if (this.#terms[number] === 0) this.#terms[number] = this.term(term)
      this.append(number)
    },
  }

  append(number: number): void {
    if (this.#listed === this.#list.length) {
      const wider = new Uint16Array(this.#list.length * 2)
      wider.set(this.#list)
      this.#list = wider
    }
    this.#list[this.#listed++] = number
  }

  /** How many are in the list. */
  listed(): number {
    return this.#listed
  }

  /** A copy of the list, which is empty then. */
  take(): Uint16Array {
    const taken = this.#list.slice(0, this.#listed)
    this.#listed = 0
    return taken
  }

  /** Forms or terms that have numbers, whichever are more. */
  known(): number {
    return Math.max(this.#forms, this.#texts.length)
  }

  /** All numbers are free again. */
  clear(): void {
    this.#slots.fill(0)
    this.#terms.fill(0)
    this.#others = new Map()
    this.#termNumbers = new Map()
    this.#texts = ['']
    this.#unitsSize = this.#forms = this.#stopForms = this.#listed = 0
    for (const word of plainStopWords)
      this.#plainForm(word, 0, word.length, hashOf(word, 0, word.length))
    this.#stopForms = this.#forms
  }

  /** 0 for a form that nobody has told of, and for stop words. */
  form(form: string): number {
    if (!isPlain(form)) return this.#others.get(form) ?? 0
    const number = this.#find(form, 0, form.length, hashOf(form, 0, form.length))
    return number > this.#stopForms ? number : 0
  }

  /** Gives the term a number if it has none; 0 when there are none left. */
  term(term: string): number {
    let number = this.#termNumbers.get(term)
    if (number === undefined) {
      if (this.#texts.length > numbersMax) return 0
      number = this.#texts.push(term) - 1
      this.#termNumbers.set(term, number)
    }
    return number
  }

  textOfTerm(number: number): string {
    return this.#texts[number] ?? ''
  }

  /** The number of the term of a form, as `term`. */
  termOfForm(form: number): number {
    const known = this.#terms[form] as number
    if (known > 0 || form <= this.#stopForms) return known
    const start = this.#starts[form] as number
    const text = this.#units.toString('latin1', start, start + (this.#lengths[form] as number))
    return (this.#terms[form] = this.term(this.#termOf(text)))
  }

  /** The same, where one of the beginnings (text/glance.ts) is that of the form; 0 where its term surely has none of them. */
  termBeginning(form: number, beginnings: readonly (readonly number[])[]): number {
    const known = this.#terms[form] as number
    if (known > 0) return known
    for (const beginning of beginnings)
      if (this.#isBeginning(form, beginning)) return this.termOfForm(form)
    return 0
  }

  #isBeginning(form: number, beginning: readonly number[]): boolean {
    if (beginning.length > (this.#lengths[form] as number)) return false
    const start = this.#starts[form] as number
    for (let i = 0; i < beginning.length; i += 1)
      if (this.#units[start + i] !== beginning[i]) return false
    return true
  }

  /** Gives the form a number if it has none; 0 for stop words, and when there are none left. */
  #formOf(form: string): number {
    if (isPlain(form)) {
      const number = this.#plainForm(form, 0, form.length, hashOf(form, 0, form.length))
      return number > this.#stopForms ? number : 0
    }
    let number = this.#others.get(form)
    if (number === undefined) {
      number = isStopWord(form) || this.#forms >= numbersMax ? 0 : ++this.#forms
      this.#lengths[number] = 0
      if (this.#others.size < numbersMax) this.#others.set(form, number)
    }
    return number
  }

  #find(text: string, start: number, end: number, hash: number): number {
    const slots = this.#slots
    for (let slot = hash & (slotsCount - 1); ; slot = (slot + 1) & (slotsCount - 1)) {
      const number = slots[slot] as number
      if (number === 0) return 0
      if (this.#hashes[number] === hash && this.#isAt(number, text, start, end)) return number
    }
  }

  #isAt(number: number, text: string, start: number, end: number): boolean {
    const length = this.#lengths[number] as number
    if (length !== end - start) return false
    const units = this.#units
    const from = this.#starts[number] as number
    if (units[from] !== (text.charCodeAt(start) | caseBit)) return false
    for (let i = 1; i < length; i += 1)
      if (units[from + i] !== text.charCodeAt(start + i)) return false
    return true
  }

  #plainForm(text: string, start: number, end: number, hash: number): number {
    const known = this.#find(text, start, end, hash)
    return known > 0 || this.#forms >= numbersMax ? known : this.#add(text, start, end, hash)
  }

  #add(text: string, start: number, end: number, hash: number): number {
    const number = ++this.#forms
    const from = this.#unitsSize
    const to = from + end - start
    if (to > this.#units.length) {
      const wider = Buffer.allocUnsafeSlow(this.#units.length * 2)
      wider.set(this.#units)
      this.#units = wider
    }
    this.#units[from] = text.charCodeAt(start) | caseBit
    for (let i = 1; i < end - start; i += 1) this.#units[from + i] = text.charCodeAt(start + i)
    this.#unitsSize = to
    this.#hashes[number] = hash
    this.#starts[number] = from
    this.#lengths[number] = end - start
    let slot = hash & (slotsCount - 1)
    while (this.#slots[slot] !== 0) slot = (slot + 1) & (slotsCount - 1)
    this.#slots[slot] = number
    return number
  }
}

const caseBit = 0x20
/** Whether units of text are a plain word as it is kept, in small letters. */
const isPlain = (form: string): boolean =>
  isSimple(form, 0, form.length) && (form.charCodeAt(0) & caseBit) !== 0
