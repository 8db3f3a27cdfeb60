/** Words seen before with their terms, and the counters of the document at hand: numbers in typed arrays, which V8's collector has not to walk through. */
import { isStopWord } from './stopwords.ts'
import { isSimple, splitWord, TERM_UNITS_MAX } from './words.ts'

/** Entries of one generation, 3 to 4 MB. There are two. Below a power of two: the page that fills it must not double its room. */
const ENTRIES_MAX = 60_000
const ENTRIES_MIN = 1_024
/** A longer word is analysed each time, as entry 0. */
const WORD_UNITS_MAX = 2 * TERM_UNITS_MAX
const NONE = -1

/* An entry is a text, as a word, as a term or as both: a record of eight integers. */
const FIELDS = 8
const START = 0 // of its units
const LENGTH = 1
const HASH = 2
const WHOLE = 3 // as a word: the entry of its term; NONE = only its parts count
const PARTS = 4 // as a word: where its parts are; 0 = it has none
const COUNTED = 5 // as a word: what it adds to the length of a document
const DOCUMENT = 6 // as a term: number of the last document that holds it
const FREQUENCY = 7 // as a term: in that document
/** Not seen as a word yet. */
const UNSEEN = -2

const STEMMED = /^[a-z]+$/
/** What Porter2 may take off or change, at the end of a word. */
const ENDING = /(?:[esyl]|ed|ing|ion|[ae]nt|i|ism|er|or|ic)$/

const noParts: readonly number[] = []

/** Entries by text: open addressing, at most half full. The hash has no secret: a page made to collide runs into the time limit of its thread. */
class Generation {
  records = new Int32Array(ENTRIES_MIN * FIELDS)
  units = new Uint16Array(ENTRIES_MIN * 8)
  /** For each word that has parts: how many, then their entries. */
  parts = new Int32Array(ENTRIES_MIN)
  /** Entry 0 is for the word that is too long to be kept. */
  size = 1
  readonly hanTerms = new Map<number, number>()
  #slots = new Int32Array(2 * ENTRIES_MIN)
  #unitsSize = 0
  #partsSize = 1

  clear(): void {
    this.size = 1
    this.#unitsSize = 0
    this.#partsSize = 1
    this.#slots.fill(0)
    this.hanTerms.clear()
  }

  /** The entry of units [start, end) of a text with this hash, or NONE. */
  find(text: string, start: number, end: number, hash: number): number {
    const { records } = this
    const slots = this.#slots
    const mask = slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot] as number
      if (entry === 0) return NONE
      const at = entry * FIELDS
      if (records[at + HASH] === hash && this.#isText(at, text, start, end)) return entry
    }
  }

  #isText(at: number, text: string, start: number, end: number): boolean {
    const length = this.records[at + LENGTH] as number
    if (length !== end - start) return false
    const { units } = this
    const from = this.records[at + START] as number
    for (let i = 0; i < length; i += 1)
      if (units[from + i] !== text.charCodeAt(start + i)) return false
    return true
  }

  /** It must not be there yet. */
  add(text: string, start: number, end: number, hash: number): number {
    const { size } = this
    if (2 * (size + 1) > this.#slots.length) this.#grow()
    while (this.#unitsSize + end - start > this.units.length) this.units = widened(this.units)
    const at = size * FIELDS
    const { records, units } = this
    const from = this.#unitsSize
    for (let i = start; i < end; i += 1) units[from + i - start] = text.charCodeAt(i)
    this.#unitsSize += end - start
    records[at + START] = from
    records[at + LENGTH] = end - start
    records[at + HASH] = hash
    records[at + WHOLE] = UNSEEN
    records[at + PARTS] = 0
    records[at + COUNTED] = 0
    records[at + DOCUMENT] = NONE
    this.size += 1
    this.#place(hash, size)
    return size
  }

  /** Sets what an entry is as a word. */
  set(entry: number, whole: number, parts: readonly number[], counted: number): void {
    const at = entry * FIELDS
    const before = this.#partsSize
    this.records[at + WHOLE] = whole
    this.records[at + COUNTED] = counted
    this.records[at + PARTS] = parts.length === 0 ? 0 : this.#addParts(parts)
    // What is not kept leaves its room to the next one.
    if (entry === 0) this.#partsSize = before
  }

  #addParts(parts: readonly number[]): number {
    while (this.#partsSize + parts.length >= this.parts.length) {
      const wider = new Int32Array(2 * this.parts.length)
      wider.set(this.parts)
      this.parts = wider
    }
    const at = this.#partsSize
    this.parts[at] = parts.length
    this.parts.set(parts, at + 1)
    this.#partsSize += parts.length + 1
    return at
  }

  partsOf(entry: number): readonly number[] {
    const at = this.records[entry * FIELDS + PARTS] as number
    return at === 0
      ? noParts
      : [...this.parts.subarray(at + 1, at + 1 + (this.parts[at] as number))]
  }

  textOf(entry: number): string {
    const at = entry * FIELDS
    const from = this.records[at + START] as number
    const length = this.records[at + LENGTH] as number
    return Buffer.from(this.units.buffer, 2 * from, 2 * length).toString('utf16le')
  }

  #place(hash: number, entry: number): void {
    const slots = this.#slots
    const mask = slots.length - 1
    let slot = hash & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = entry
  }

  #grow(): void {
    const records = new Int32Array(2 * this.records.length)
    records.set(this.records)
    this.records = records
    this.#slots = new Int32Array(2 * this.#slots.length)
    for (let entry = 1; entry < this.size; entry += 1)
      this.#place(records[entry * FIELDS + HASH] as number, entry)
  }
}

function widened(array: Uint16Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  const wider = new Uint16Array(2 * array.length)
  wider.set(array)
  return wider
}

/** FNV-1a over units, its upper bits folded down for the mask. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash ^ (hash >>> 15)
}

/** How much a form counts in the length of a page. */
const countedAs = (form: string): number => (isStopWord(form) ? 0 : 1)

/**
 * Words and terms are entries: small integers that hold until the next `begin`. Counts the terms of one document at a time.
 * A full generation becomes the old one, and what is used again is taken over from there.
 */
export class WordMemory {
  readonly #stem: (word: string) => string
  #young = new Generation()
  #old = new Generation()
  #document = 0
  /** Terms of the document in the order of first sight. */
  #found = new Int32Array(512)
  #foundCount = 0

  /** @param stem gets words of a-z */
  constructor(stem: (word: string) => string) {
    this.#stem = stem
  }

  /** A new document; forgets what was not seen for long where the memory is full. */
  begin(): void {
    this.#document += 1
    this.#foundCount = 0
    if (this.#young.size < ENTRIES_MAX) return
    const free = this.#old
    this.#old = this.#young
    this.#young = free
    free.clear()
  }

  /** Different terms of the document so far. */
  get found(): number {
    return this.#foundCount
  }

  isFound(term: number): boolean {
    return this.#young.records[term * FIELDS + DOCUMENT] === this.#document
  }

  count(term: number, weight: number): void {
    const { records } = this.#young
    const at = term * FIELDS
    if (records[at + DOCUMENT] !== this.#document) {
      records[at + DOCUMENT] = this.#document
      records[at + FREQUENCY] = 0
      if (this.#foundCount === this.#found.length) {
        const wider = new Int32Array(2 * this.#found.length)
        wider.set(this.#found)
        this.#found = wider
      }
      this.#found[this.#foundCount] = term
      this.#foundCount += 1
    }
    records[at + FREQUENCY] = (records[at + FREQUENCY] as number) + weight
  }

  /** Of the document's n-th term. */
  frequencyAt(n: number): number {
    return this.#young.records[(this.#found[n] as number) * FIELDS + FREQUENCY] as number
  }

  /** Units of all terms of the document. */
  unitsOfFound(): number {
    const { records } = this.#young
    let sum = 0
    for (let n = 0; n < this.#foundCount; n += 1)
      sum += records[(this.#found[n] as number) * FIELDS + LENGTH] as number
    return sum
  }

  /** Copies the units of the document's n-th term to `target` at `at`; how many. */
  copyUnitsAt(n: number, target: Uint16Array, at: number): number {
    const { records, units } = this.#young
    const record = (this.#found[n] as number) * FIELDS
    const from = records[record + START] as number
    const length = records[record + LENGTH] as number
    for (let i = 0; i < length; i += 1) target[at + i] = units[from + i] as number
    return length
  }

  /** The one entry of this term. */
  term(text: string): number {
    const hash = hashOf(text, 0, text.length)
    const found = this.#young.find(text, 0, text.length, hash)
    return found === NONE ? this.#young.add(text, 0, text.length, hash) : found
  }

  /** The term of units [start, end) of a Han run that the dictionary calls `id`, twice, and one more where it is a stop word. */
  hanTerm(run: string, start: number, end: number, id: number): number {
    const { hanTerms } = this.#young
    const known = hanTerms.get(id)
    if (known !== undefined) return known
    const text = run.slice(start, end)
    const found = 2 * this.term(text) + (isStopWord(text) ? 1 : 0)
    if (id >= 0) hanTerms.set(id, found)
    return found
  }

  /** The word of an alphabet at units [start, end), as `eachRun` finds it; NONE = not known. */
  known(text: string, start: number, end: number): number {
    const found = this.#young.find(text, start, end, hashOf(text, start, end))
    return found === NONE || this.wholeOf(found) === UNSEEN ? NONE : found
  }

  /** The same, analysed where it is not known. */
  word(text: string, start: number, end: number): number {
    const hash = hashOf(text, start, end)
    const young = this.#young
    let entry = young.find(text, start, end, hash)
    if (entry !== NONE && young.records[entry * FIELDS + WHOLE] !== UNSEEN) return entry
    if (entry === NONE) entry = end - start > WORD_UNITS_MAX ? 0 : young.add(text, start, end, hash)
    const before = this.#old.find(text, start, end, hash)
    if (before !== NONE && this.#old.records[before * FIELDS + WHOLE] !== UNSEEN)
      this.#takeOver(entry, before)
    else this.#analyse(entry, text.slice(start, end))
    return entry
  }

  wholeOf(word: number): number {
    return this.#young.records[word * FIELDS + WHOLE] as number
  }

  countedOf(word: number): number {
    return this.#young.records[word * FIELDS + COUNTED] as number
  }

  eachPart(word: number, use: (term: number) => void): void {
    const { parts, records } = this.#young
    const at = records[word * FIELDS + PARTS] as number
    if (at === 0) return
    const end = at + (parts[at] as number)
    for (let i = at + 1; i <= end; i += 1) use(parts[i] as number)
  }

  #takeOver(entry: number, before: number): void {
    const whole = this.#old.records[before * FIELDS + WHOLE] as number
    const again = (term: number): number => this.term(this.#old.textOf(term))
    this.#young.set(
      entry,
      whole === before ? entry : whole === NONE ? NONE : again(whole),
      this.#old.partsOf(before).map(again),
      this.#old.records[before * FIELDS + COUNTED] as number,
    )
  }

  #analyse(entry: number, raw: string): void {
    if (isSimple(raw, 0, raw.length)) {
      const form = raw.toLowerCase()
      return this.#young.set(entry, this.#termOf(form), noParts, countedAs(form))
    }
    const { whole, parts } = splitWord(raw)
    if (whole !== null && parts.length === 0) {
      return this.#young.set(entry, this.#termOf(whole.form), noParts, countedAs(whole.form))
    }
    const terms: number[] = []
    let counted = 0
    for (const { form } of parts) {
      terms.push(this.#termOf(form))
      counted += countedAs(form)
    }
    this.#young.set(entry, whole === null ? NONE : this.#termOf(whole.form), terms, counted)
  }

  /** A form of a-z is a word by itself: where that is known, it need not be stemmed again. */
  #termOf(form: string): number {
    if (!STEMMED.test(form) || !ENDING.test(form)) return this.term(form)
    const hash = hashOf(form, 0, form.length)
    const young = this.#young.find(form, 0, form.length, hash)
    if (young !== NONE) {
      const whole = this.wholeOf(young)
      if (whole >= 0) return whole
    }
    const old = this.#old.find(form, 0, form.length, hash)
    const whole = old === NONE ? NONE : (this.#old.records[old * FIELDS + WHOLE] as number)
    return this.term(whole >= 0 ? this.#old.textOf(whole) : this.#stem(form))
  }
}
