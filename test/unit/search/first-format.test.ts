/** Segments of the first format: they answer as they did, they are renewed by a merge, and no phrase trusts their pairs. */
import assert from 'node:assert'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { migrate, openDatabase } from '../../../src/lib/sqlite.ts'
import { checkIndex } from '../../../src/search/check.ts'
import { currentLeaf } from '../../../src/search/first-format.ts'
import { createIndexReader, createIndexWriter } from '../../../src/search/flex.ts'
import { TermCursor } from '../../../src/search/postings.ts'
import { migrations } from '../../../src/store/schema.ts'
import { createRandom } from '../../site/words.ts'
import { indexedDocument } from './index-fixture.ts'

type Block = {
  term: string
  isAsBefore: boolean
  kind: 'equal' | 'usual' | 'each'
  postings: [docno: number, quant: number][]
}

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]

/** As version 3 wrote them. */
function firstLeaf(blocks: readonly Block[]): Uint8Array {
  const bytes: number[] = []
  for (const { term, isAsBefore, kind, postings } of blocks) {
    const usual = postings[0]?.[1] ?? 0
    const body: number[] = kind === 'usual' ? [usual] : []
    let before = 0
    for (const [docno, quant] of postings) {
      const gap = docno - before
      before = docno
      if (kind === 'equal') body.push(...varint(gap))
      else if (kind === 'each') body.push(...varint(gap), quant)
      else
        body.push(
          ...varint(gap * 2 + (quant === usual ? 0 : 1)),
          ...(quant === usual ? [] : [quant]),
        )
    }
    const text = Buffer.from(term)
    const largest = Math.max(...postings.map(([, quant]) => quant))
    const flag = { equal: 0x40, usual: 0x80, each: 0 }[kind]
    bytes.push(
      ...(isAsBefore ? [0] : [text.length, ...text]),
      ...varint(postings.length),
      largest | flag,
    )
    bytes.push(...varint(before), ...varint(body.length), ...body)
  }
  return Uint8Array.from(bytes)
}

describe('a leaf of the first format', () => {
  for (const seed of [1, 2, Date.now() % 1_000_000])
    it(`is read as if it were of the present one, without its pairs (seed ${seed})`, () => {
      const random = createRandom(seed)
      const first = 500
      const blocks: Block[] = []
      for (const term of [
        'a',
        '\u0002\u4000',
        '\u0002\u4001',
        '\u0001title',
        ' 食品',
        'ab',
        'été',
      ].toSorted()) {
        let docno = first
        for (let i = 0; i <= random() * 3; i += 1) {
          const kind = (['equal', 'usual', 'each'] as const)[Math.floor(random() * 3)] ?? 'each'
          const quant = Math.floor(random() * 64)
          const postings = Array.from(
            { length: 1 + Math.floor(random() * 100) },
            (): [number, number] => {
              docno += 1 + Math.floor(random() ** 8 * 100_000)
              return [docno, kind === 'equal' || random() < 0.5 ? quant : Math.floor(random() * 64)]
            },
          )
          blocks.push({ term, isAsBefore: i > 0, kind, postings })
        }
      }
      const leaf = currentLeaf(firstLeaf(blocks), first)
      const cursor = new TermCursor({
        packed: { first, last: 2 ** 30 },
        directory: ['a'],
        leaf: () => leaf,
      })
      const read: [string, [number, number][]][] = []
      for (; cursor.term !== null; cursor.advance()) {
        const { docnos, quants, count } = cursor.postings
        read.push([
          cursor.term,
          Array.from({ length: count }, (_, i) => [docnos[i] ?? 0, quants[i] ?? 0]),
        ])
      }
      const terms = [...new Set(blocks.map(({ term }) => term))].filter(
        (term) => term[0] !== '\u0002',
      )
      const of = (wanted: string) =>
        blocks.filter(({ term }) => term === wanted).flatMap(({ postings }) => postings)
      assert.deepEqual(
        read,
        terms.map((term) => [term, of(term)]),
      )
      assert.equal(currentLeaf(leaf, first), leaf)
    })

  it('that holds nothing but pairs is empty', () => {
    const pairs: Block = {
      term: '\u0002\u4000',
      isAsBefore: false,
      kind: 'each',
      postings: [[5, 1]],
    }
    const leaf = currentLeaf(firstLeaf([pairs]), 5)
    const cursor = new TermCursor({
      packed: { first: 5, last: 5 },
      directory: ['\u0002\u4000'],
      leaf: () => leaf,
    })
    assert.equal(cursor.term, null)
  })
})

describe('an index of the first format', () => {
  it('is sound, and answers alike before and after a merge has renewed it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'findling-first-'))
    const file = join(folder, 'findling.db')
    copyFileSync(join(import.meta.dirname, '../../data/upgrade/schema-1/findling.db'), file)
    const db = openDatabase(file)
    migrate(db, migrations)
    const leaves = (): Uint8Array[] =>
      db
        .prepare<{ b: Uint8Array }>('SELECT b FROM leaf')
        .all()
        .map(({ b }) => b)
    assert.ok(leaves().length > 0 && leaves().every((bytes) => bytes[0] !== 0))
    assert.deepEqual(checkIndex(db), [])
    const words = ['search', 'the', '搜索', '的']
    const found = (): (readonly number[])[] => {
      const other = openDatabase(file, { readonly: true })
      const reader = createIndexReader(other)
      reader.begin()
      const answers = words.map((word) => {
        const { docnos, quants, count } = reader.postings(word, Number.POSITIVE_INFINITY)
        return Array.from({ length: count }, (_, i) => (docnos[i] ?? 0) * 64 + (quants[i] ?? 0))
      })
      reader.end()
      other.close()
      return answers
    }
    const before = found()
    assert.ok(
      before.some((own) => own.length > 1),
      JSON.stringify(before),
    )
    const writer = createIndexWriter(db, { fanIn: 2 })
    writer.apply([indexedDocument(10_000, { elsewhere: 1 })])
    while (writer.work(1_000, true));
    assert.ok(leaves().every((bytes) => bytes[0] === 0))
    assert.deepEqual(found(), before)
    db.close()
    rmSync(folder, { recursive: true })
  })
})
