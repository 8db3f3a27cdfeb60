/**
 * The structured fields of documents, so that a search can filter, count and sort by them: every distinct value has a number, a document
 * the numbers of its values. Imports and rules feed it alike, through `DocumentInput.extra.fields`. Shown are the fields as they came
 * (doc_text.extra); here they are cut to what is worth comparing. Readers load them as search/fields.ts does.
 *
 * field(id, name), field_value(id, field, value, number), doc_field(docno, ids): ids = 4 bytes each, big endian, ascending.
 */
import type { Db } from '../lib/sqlite.ts'
import type { Meta } from './meta.ts'

/** Longer values are compared by their beginning. UTF-16 units. */
export const fieldValueCharsMax = 200
export const fieldNameCharsMax = 100
/** Values of one document, over all its fields. */
export const documentValuesMax = 200
/** Different names in one directory; documents keep further ones, searches do not know them. */
export const fieldNamesMax = 1_000

/** Raise it when `valuesOf` changes: the tables are made again at the next start. */
const fieldsVersion = '1'
const backfillRows = 500

export type FieldValueRow = { value: string; number: number | null }

export type FieldWrites = {
  /** Within the transaction that writes the document. */
  putFields(docno: number, fields: Readonly<Record<string, unknown>>): void
  moveFields(docno: number, from: number): void
  dropFields(docno: number): void
}

/** What is comparable of a field: texts, numbers, truth values, and lists of them; anything deeper is only shown. */
export function valuesOf(field: unknown): FieldValueRow[] {
  const items: unknown[] = Array.isArray(field) ? field : [field]
  const rows = items.slice(0, documentValuesMax).flatMap((item): FieldValueRow[] => {
    if (typeof item === 'number' && Number.isFinite(item))
      return [{ value: String(item), number: item }]
    if (typeof item === 'boolean') return [{ value: String(item), number: null }]
    if (typeof item !== 'string') return []
    const value = shorten(item.normalize('NFC').trim(), fieldValueCharsMax)
    return value === '' ? [] : [{ value, number: numberOf(value) }]
  })
  return [...new Map(rows.map((row) => [row.value, row])).values()]
}

/** The number that a text is, for ranges and order; null for any other text, and for digits that name something (a long code). */
export const numberOf = (text: string): number | null =>
  /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : null

/** Cut between characters, never within one. */
function shorten(text: string, charsMax: number): string {
  const cut = text.slice(0, charsMax)
  return cut.isWellFormed() ? cut : cut.slice(0, -1).toWellFormed()
}

export function createFieldWrites(db: Db, meta: Meta): FieldWrites {
  const statements = {
    name: db.prepare<{ id: number }>('SELECT id FROM field WHERE name=?'),
    names: db.prepare<{ n: number }>('SELECT count(*) AS n FROM field'),
    addName: db.prepare('INSERT INTO field(name) VALUES(?)'),
    value: db.prepare<{ id: number }>('SELECT id FROM field_value WHERE field=? AND value=?'),
    addValue: db.prepare('INSERT INTO field_value(field, value, number) VALUES(?, ?, ?)'),
    put: db.prepare('INSERT OR REPLACE INTO doc_field(docno, ids) VALUES(?, ?)'),
    move: db.prepare('UPDATE doc_field SET docno=? WHERE docno=?'),
    drop: db.prepare('DELETE FROM doc_field WHERE docno=?'),
  }
  // Nothing is remembered between calls: a transaction that is undone takes its numbers back.
  const nameId = (name: string): number | null => {
    const known = statements.name.value(name)
    if (known !== undefined) return known
    if (Number(statements.names.value()) >= fieldNamesMax) return null
    return Number(statements.addName.run(name).lastInsertRowid)
  }
  const valueId = (field: number, { value, number }: FieldValueRow): number =>
    statements.value.value(field, value) ??
    Number(statements.addValue.run(field, value, number).lastInsertRowid)

  const putFields: FieldWrites['putFields'] = (docno, fields) => {
    const ids = new Set<number>()
    for (const [name, field] of Object.entries(fields)) {
      if (name === '' || name.length > fieldNameCharsMax || !name.isWellFormed()) continue
      const values = valuesOf(field)
      const id = values.length === 0 ? null : nameId(name)
      if (id === null) continue
      for (const value of values) if (ids.size < documentValuesMax) ids.add(valueId(id, value))
    }
    if (ids.size > 0) statements.put.run(docno, packIds(ids))
  }

  if (meta.get('fields') !== fieldsVersion) fillAgain(db, meta, putFields)
  return {
    putFields,
    moveFields: (docno, from) => void statements.move.run(docno, from),
    dropFields: (docno) => void statements.drop.run(docno),
  }
}

function packIds(ids: ReadonlySet<number>): Buffer {
  const packed = Buffer.allocUnsafe(ids.size * 4)
  ;[...ids].sort((a, b) => a - b).forEach((id, i) => packed.writeUInt32BE(id, i * 4))
  return packed
}

/** From the documents themselves: after an upgrade, and when the rules above have changed. */
function fillAgain(db: Db, meta: Meta, putFields: FieldWrites['putFields']): void {
  const page = db.prepare<{ docno: number; fields: string }>(
    `SELECT docno, json_extract(extra, '$.fields') AS fields FROM doc_text
     WHERE docno > ? AND json_extract(extra, '$.fields') NOT IN ('{}') ORDER BY docno LIMIT ${backfillRows}`,
  )
  db.transaction(() => {
    db.exec('DELETE FROM doc_field; DELETE FROM field_value; DELETE FROM field')
    for (let last = -1; ;) {
      const rows = page.all(last)
      for (const { docno, fields } of rows)
        putFields(docno, JSON.parse(fields) as Record<string, unknown>)
      if (rows.length < backfillRows) break
      last = rows.at(-1)?.docno ?? last
    }
    meta.set('fields', fieldsVersion)
  })
}
