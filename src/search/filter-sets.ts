/** Which documents have a language, a type, a site, a keyword or a value of a field, as exact sets that are kept between queries. Read-only. */
import type { Db } from '../lib/sqlite.ts'
import { RoaringSet } from '../lib/roaring.ts'
import type { Attributes, Filter } from './attributes.ts'
import { type FieldTest, passesField } from './field-test.ts'

type Kept = {
  set: RoaringSet
  /** Documents up to here have been looked at. */
  lastDocno: number
  /** Of a field: its values that pass the test, and up to which they have been looked at. */
  wanted: RoaringSet
  lastValue: number
  /** Before that, when all of them are looked at in their order: where it is, and the last one there was when it began. */
  begun: { after: string; lastValue: number } | null
  /** Added since it was packed. */
  loose: number
  isPacked: boolean
}

/** A language that all pages have takes a few bytes, one that every second has a bit a page: some hundred sets of a million pages. */
const bytesMax = 8 * 1_024 * 1_024
const setsMax = 500
/** Packing looks at the whole set. */
const looseMax = 10_000
/** Between two looks at the clock. */
const rowsUnwatched = 1_024
const documentsUnwatched = 16_384

/** Of the conditions, none. */
export const noFilter = {
  site: [],
  notSite: [],
  lang: [],
  fileType: [],
  type: [],
  fields: [],
  keyword: [],
  sinceMs: null,
  untilMs: null,
} as const

/** A document never changes what it has: a changed page has a new number. So a set is made once, and goes on with the documents that come. */
export class FilterSets {
  readonly #attributes: Attributes
  readonly #values
  readonly #newValues
  readonly #urls
  /** The one that was not asked for longest comes first. */
  readonly #kept = new Map<string, Kept>()
  #epoch = 0

  constructor(db: Db, attributes: Attributes) {
    this.#attributes = attributes
    const columns = 'SELECT v.id, v.value, v.number FROM field_value v'
    this.#values = db.prepare<ValueRow>(
      `${columns} WHERE v.field=? AND v.value > ? ORDER BY v.value`,
    )
    this.#urls = db.prepare<{ docno: number; origin: string; path: string }>(
      `SELECT d.docno, h.origin, u.path FROM doc d CROSS JOIN url u ON u.id = d.url_id CROSS JOIN host h ON h.id = u.host
       WHERE d.docno > ? ORDER BY d.docno`,
    )
    this.#newValues = db.prepare<ValueRow>(`${columns} NOT INDEXED WHERE v.id > ? AND v.field=?`)
  }

  /** Documents of a language, type or site, dead ones and exact copies among them; null where the set is not kept and `isFew` say that looking is cheaper. */
  filtered(
    kind: 'lang' | 'fileType' | 'site',
    value: string,
    isFew: () => boolean,
  ): RoaringSet | null {
    const key = `${kind} ${value}`
    this.#forgetOld()
    if (!this.#kept.has(key) && isFew()) return null
    const kept = this.#of(key)
    const filter: Filter = { ...noFilter, [kind]: [value] }
    this.#goOn(key, kept, this.#attributes.accepts(filter) ?? (() => true))
    return this.#keep(key, kept)
  }

  /** Documents whose own address passes; null likewise. @param key tells the test from all others */
  addresses(
    key: string,
    test: (origin: string, path: string) => boolean,
    isFew: () => boolean,
  ): RoaringSet | null {
    this.#forgetOld()
    if (!this.#kept.has(key) && isFew()) return null
    const kept = this.#of(key)
    let rows = 0
    for (const { docno, origin, path } of this.#urls.iterate(kept.lastDocno)) {
      if (test(origin, path)) kept.set.add(docno)
      kept.lastDocno = docno
      kept.loose += 1
      if (++rows % rowsUnwatched === 0) this.#refuseLate(key, kept)
    }
    packSet(kept)
    return this.#keep(key, kept)
  }

  /** Documents with a value of this field that passes, dead ones and exact copies among them. */
  field(name: string, test: Exclude<FieldTest, { op: 'isNot' }>): RoaringSet {
    const key = `field ${JSON.stringify([name, test])}`
    this.#forgetOld()
    const kept = this.#of(key)
    const fields = this.#attributes.fields()
    const field = fields.fieldId(name)
    if (field !== null) {
      if (kept.lastValue === 0) this.#judgeAll(key, kept, field, test, fields.valuesEnd() - 1)
      this.#judgeNew(key, kept, field, test, fields.valuesEnd() - 1)
    }
    let isWanted = false
    const see = (id: number): void => {
      isWanted ||= kept.wanted.has(id)
    }
    const hasWanted = (docno: number): boolean => {
      isWanted = false
      fields.eachId(docno, see)
      return isWanted
    }
    this.#goOn(key, kept, kept.wanted.size === 0 ? () => false : hasWanted)
    return this.#keep(key, kept)
  }

  /** Documents with this keyword, in whatever spelling, likewise. */
  keyword(word: string): RoaringSet {
    const lists = this.#attributes.keywords()
    const id = lists.idOf(word)
    if (id === null) return new RoaringSet()
    const key = `keyword ${id}`
    this.#forgetOld()
    const kept = this.#of(key)
    this.#goOn(key, kept, (docno) => lists.has(docno, id))
    return this.#keep(key, kept)
  }

  /** For tests and figures. */
  get bytes(): number {
    return [...this.#kept.values()].reduce((sum, kept) => sum + bytesOf(kept), 0)
  }

  /** What is dead is let go of when the attributes do. */
  #forgetOld(): void {
    if (this.#epoch === this.#attributes.epoch) return
    this.#epoch = this.#attributes.epoch
    this.#kept.clear()
  }

  #of(key: string): Kept {
    const known = this.#kept.get(key)
    this.#kept.delete(key)
    return (
      known ?? {
        set: new RoaringSet(),
        lastDocno: 0,
        wanted: new RoaringSet(),
        lastValue: 0,
        begun: null,
        loose: 0,
        isPacked: false,
      }
    )
  }

  /** The values of a field in their order: an index has them together. */
  #judgeAll(key: string, kept: Kept, field: number, test: FieldTest, lastValue: number): void {
    kept.begun ??= { after: '', lastValue }
    const { begun } = kept
    let rows = 0
    for (const row of this.#values.iterate(field, begun.after)) {
      if (passes(row, test)) kept.wanted.add(row.id)
      begun.after = row.value
      if (++rows % rowsUnwatched === 0) this.#refuseLate(key, kept)
    }
    kept.lastValue = begun.lastValue
    kept.begun = null
  }

  #judgeNew(key: string, kept: Kept, field: number, test: FieldTest, lastValue: number): void {
    if (kept.lastValue >= lastValue) return
    let rows = 0
    for (const row of this.#newValues.iterate(kept.lastValue, field)) {
      if (passes(row, test)) kept.wanted.add(row.id)
      kept.lastValue = row.id
      if (++rows % rowsUnwatched === 0) this.#refuseLate(key, kept)
    }
    kept.lastValue = lastValue
  }

  #goOn(key: string, kept: Kept, passes: (docno: number) => boolean): void {
    const last = this.#attributes.lastDocno()
    while (kept.lastDocno < last) {
      const end = Math.min(last, kept.lastDocno + documentsUnwatched)
      for (let docno = kept.lastDocno + 1; docno <= end; docno += 1)
        if (passes(docno)) kept.set.add(docno)
      kept.loose += end - kept.lastDocno
      kept.lastDocno = end
      if (end < last) this.#refuseLate(key, kept)
    }
    packSet(kept)
  }

  /** What was found until now stays. */
  #refuseLate(key: string, kept: Kept): void {
    try {
      this.#attributes.refuseLate()
    } catch (error) {
      this.#keep(key, kept)
      throw error
    }
  }

  #keep(key: string, kept: Kept): RoaringSet {
    this.#kept.set(key, kept)
    let { bytes } = this
    for (const [oldest, { set, wanted }] of this.#kept) {
      if (oldest === key || (bytes <= bytesMax && this.#kept.size <= setsMax)) break
      bytes -= set.bytes + wanted.bytes
      this.#kept.delete(oldest)
    }
    return kept.set
  }
}

function packSet(kept: Kept): void {
  if (kept.isPacked && kept.loose < looseMax) return
  kept.set.pack()
  kept.isPacked = true
  kept.loose = 0
}

const passes = ({ value, number }: ValueRow, test: FieldTest): boolean =>
  passesField(value, test) || (number !== null && passesField(number, test))

type ValueRow = { id: number; value: string; number: number | null }

const bytesOf = ({ set, wanted }: Kept): number => set.bytes + wanted.bytes
