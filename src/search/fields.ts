/** The numbers of every document's field values (store/fields.ts), in typed arrays: 4 bytes a document and 4 a value. Loaded when first asked for. */
import type { Db } from '../lib/sqlite.ts'
import { numberOf } from '../store/fields.ts'
import type { FieldCondition } from './answer.ts'

/** Looked at to see whether the values of a field are paths. */
const valuesSampledMax = 1_000
/** Rows read between two looks at the clock. */
const rowsUnwatched = 1_024

export class Fields {
  readonly #statements: ReturnType<typeof prepareAll>
  #lastDocno = 0
  #lastValue = 0
  #fieldOfValue = new Uint16Array(1_024)
  /** Where the numbers of a document begin in #ids: the first says how many follow. 0 = it has none. */
  #starts = new Uint32Array(1_024)
  #ids = new Uint32Array(1_024)
  #used = 1
  /** The last order asked for: reading all values of a field takes time. */
  #order: { key: string; ranks: Float64Array } | null = null

  constructor(db: Db) {
    this.#statements = prepareAll(db)
  }

  /**
   * Takes over what came since, within the reader's transaction. Old rows never change: a changed document has a new number.
   * @returns whether all is there; where the time ran out before, the next call goes on
   */
  refresh(untilMs = Number.POSITIVE_INFINITY): boolean {
    const statements = this.#statements
    let rows = 0
    const isLate = (): boolean => ++rows % rowsUnwatched === 0 && performance.now() > untilMs
    for (const { id, field } of statements.valuesAfter.iterate(this.#lastValue)) {
      if (id >= this.#fieldOfValue.length) this.#fieldOfValue = widen(this.#fieldOfValue, id + 1)
      this.#fieldOfValue[id] = field
      this.#lastValue = id
      if (isLate()) return false
    }
    for (const { docno, ids } of statements.rowsAfter.iterate(this.#lastDocno)) {
      this.#add(docno, ids)
      this.#lastDocno = docno
      if (isLate()) return false
    }
    return true
  }

  /** Starts anew: the numbers of dead documents outnumber those of the living. */
  forget(): void {
    this.#lastDocno = 0
    this.#starts = new Uint32Array(1_024)
    this.#ids = new Uint32Array(1_024)
    this.#used = 1
  }

  /** Number of a field; null for a name that no document has. */
  fieldId(name: string): number | null {
    return this.#statements.fieldId.value(name) ?? null
  }

  /** '' for a number that no field has. */
  fieldName(field: number): string {
    return this.#statements.fieldName.value(field) ?? ''
  }

  fieldOf(valueId: number): number {
    return this.#fieldOfValue[valueId] ?? 0
  }

  /** Calls `see` with each value number that the document has, of any field. */
  eachId(docno: number, see: (id: number) => void): void {
    const start = this.#starts[docno] ?? 0
    if (start === 0) return
    const end = start + 1 + (this.#ids[start] as number)
    for (let i = start + 1; i < end; i += 1) see(this.#ids[i] as number)
  }

  /** Value numbers given out so far are below this. */
  valuesEnd(): number {
    return this.#lastValue + 1
  }

  valueText(id: number): string {
    return this.#statements.valueText.value(id) ?? ''
  }

  /** Calls `see` with each value number that the document has of this field. */
  eachValue(docno: number, field: number, see: (id: number) => void): void {
    const start = this.#starts[docno] ?? 0
    if (start === 0) return
    const end = start + 1 + (this.#ids[start] as number)
    for (let i = start + 1; i < end; i += 1) {
      const id = this.#ids[i] as number
      if (this.#fieldOfValue[id] === field) see(id)
    }
  }

  /** Adds one for each value that each document has of this field. */
  countValues(docnos: Uint32Array, field: number, counts: Uint32Array): void {
    const [starts, ids, fieldOfValue] = [this.#starts, this.#ids, this.#fieldOfValue]
    for (let n = 0; n < docnos.length; n += 1) {
      const start = starts[docnos[n] as number] ?? 0
      if (start === 0) continue
      const end = start + 1 + (ids[start] as number)
      for (let i = start + 1; i < end; i += 1) {
        const id = ids[i] as number
        if (fieldOfValue[id] === field) counts[id] = (counts[id] as number) + 1
      }
    }
  }

  /** One test for each condition: a document passes where it has one of the values, or one within the range. */
  accepts(conditions: readonly FieldCondition[]): ((docno: number) => boolean)[] {
    return conditions.map((condition) => {
      const { isExcluded = false } = condition
      const field = this.fieldId(condition.name)
      if (field === null) return () => isExcluded
      const wanted = this.#wantedValues(field, condition)
      return (docno) => this.#hasAny(docno, wanted) !== isExcluded
    })
  }

  /** All values of a field below a node of their tree, as paths; '' = the root. */
  valuesBelow(field: number, node: string): { id: number; value: string }[] {
    const { allValues, valuesBetween } = this.#statements
    return node === ''
      ? allValues.all(field)
      : valuesBetween.all(field, `${node}/`, `${node}${afterSlash}`)
  }

  /** Whether most values are paths (a/b/c) that share their first steps: then a facet shows the steps, not the leaves. */
  isTree(field: number): boolean {
    const values = this.#statements.sampleValues.all(field, valuesSampledMax)
    const paths = values.filter(({ value }) => /^[^/]+(?:\/[^/]+)+$/.test(value))
    if (paths.length < 2 || paths.length * 2 < values.length) return false
    const roots = new Set(paths.map(({ value }) => value.slice(0, value.indexOf('/'))))
    return roots.size * 2 <= values.length
  }

  /**
   * The rank of a document by a field: numbers before texts, both ascending; of several values the first counts, or the last where
   * `isDescending`. NaN where it lacks the field; null where all do.
   */
  order(name: string, isDescending: boolean): ((docno: number) => number) | null {
    const field = this.fieldId(name)
    if (field === null) return null
    const ranks = this.#ranksOf(field)
    return (docno) => {
      let found = Number.NaN
      this.eachValue(docno, field, (id) => {
        const rank = ranks[id] as number
        if (Number.isNaN(found) || (isDescending ? rank > found : rank < found)) found = rank
      })
      return found
    }
  }

  #ranksOf(field: number): Float64Array {
    const key = `${field}:${this.#lastValue}`
    if (this.#order?.key === key) return this.#order.ranks
    // A number sorts by its size; texts come after all numbers, in their order.
    const ranks = new Float64Array(this.valuesEnd())
    let texts = 0
    for (const { id, number } of this.#statements.orderedValues.iterate(field))
      ranks[id] = number ?? textRankFrom + texts++
    this.#order = { key, ranks }
    return ranks
  }

  #hasAny(docno: number, wanted: ReadonlySet<number>): boolean {
    const start = this.#starts[docno] ?? 0
    if (start === 0) return false
    const end = start + 1 + (this.#ids[start] as number)
    for (let i = start + 1; i < end; i += 1) if (wanted.has(this.#ids[i] as number)) return true
    return false
  }

  #wantedValues(field: number, { values, min, max }: FieldCondition): Set<number> {
    const wanted = new Set<number>()
    for (const value of values) for (const id of this.#idsOf(field, value)) wanted.add(id)
    if (min === null && max === null) return wanted
    const within = this.#idsWithin(field, min, max)
    return values.length === 0 ? within : new Set([...wanted].filter((id) => within.has(id)))
  }

  /** The value itself and the paths below it; in another case where there is none in this one. */
  #idsOf(field: number, wanted: string): number[] {
    const value = wanted.normalize('NFC').trim()
    const { exactValue, valuesBetween, anyCaseValue } = this.#statements
    const ids = valuesBetween.all(field, `${value}/`, `${value}${afterSlash}`).map(({ id }) => id)
    const exact = exactValue.value(field, value)
    if (exact !== undefined) ids.push(exact)
    return ids.length > 0 ? ids : anyCaseValue.all(field, value).map(({ id }) => id)
  }

  /** By number where the bounds are numbers, else by text: so ISO dates work too. Both bounds belong to the range. */
  #idsWithin(field: number, min: string | null, max: string | null): Set<number> {
    const [low, high] = [min, max].map((bound) => (bound === null ? null : numberOf(bound.trim())))
    const isNumeric = (min === null || low !== null) && (max === null || high !== null)
    const rows = isNumeric
      ? this.#statements.numbersWithin.all(field, low ?? -Infinity, high ?? Infinity)
      : this.#statements.textsWithin.all(field, min ?? '', max ?? '\u{10ffff}')
    return new Set(rows.map(({ id }) => id))
  }

  #add(docno: number, packed: Uint8Array): void {
    const count = packed.length / 4
    if (docno >= this.#starts.length) this.#starts = widen(this.#starts, docno + 1)
    if (this.#used + count >= this.#ids.length) this.#ids = widen(this.#ids, this.#used + count + 1)
    this.#starts[docno] = this.#used
    this.#ids[this.#used++] = count
    for (let i = 0; i < packed.length; i += 4)
      this.#ids[this.#used++] =
        ((packed[i] as number) << 24) |
        ((packed[i + 1] as number) << 16) |
        ((packed[i + 2] as number) << 8) |
        (packed[i + 3] as number)
  }
}

/** The character after "/": every path below a node lies between `node/` and `node0`. */
const afterSlash = '0'
/** Above every number that a field can hold (15 digits before the point). */
const textRankFrom = 1e16

type Id = { id: number }
const prepareAll = (db: Db) => ({
  fieldId: db.prepare<Id>('SELECT id FROM field WHERE name=?'),
  fieldName: db.prepare<{ name: string }>('SELECT name FROM field WHERE id=?'),
  valuesAfter: db.prepare<{ id: number; field: number }>(
    'SELECT id, field FROM field_value WHERE id > ? ORDER BY id',
  ),
  rowsAfter: db.prepare<{ docno: number; ids: Uint8Array }>(
    'SELECT docno, ids FROM doc_field WHERE docno > ? ORDER BY docno',
  ),
  valueText: db.prepare<{ value: string }>('SELECT value FROM field_value WHERE id=?'),
  exactValue: db.prepare<Id>('SELECT id FROM field_value WHERE field=? AND value=?'),
  anyCaseValue: db.prepare<Id>(
    'SELECT id FROM field_value WHERE field=? AND value=? COLLATE NOCASE',
  ),
  allValues: db.prepare<{ id: number; value: string }>(
    'SELECT id, value FROM field_value WHERE field=? ORDER BY value',
  ),
  valuesBetween: db.prepare<{ id: number; value: string }>(
    'SELECT id, value FROM field_value WHERE field=? AND value >= ? AND value < ?',
  ),
  sampleValues: db.prepare<{ value: string }>(
    'SELECT value FROM field_value WHERE field=? ORDER BY value LIMIT ?',
  ),
  orderedValues: db.prepare<{ id: number; number: number | null }>(
    'SELECT id, number FROM field_value WHERE field=? ORDER BY value',
  ),
  numbersWithin: db.prepare<Id>(
    'SELECT id FROM field_value WHERE field=? AND number >= ? AND number <= ?',
  ),
  textsWithin: db.prepare<Id>(
    'SELECT id FROM field_value WHERE field=? AND value >= ? AND value <= ?',
  ),
})

function widen<A extends Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(
  array: A,
  size: number,
): A {
  const wider = new (array.constructor as new (size: number) => A)(Math.max(size, array.length * 2))
  wider.set(array)
  return wider
}
