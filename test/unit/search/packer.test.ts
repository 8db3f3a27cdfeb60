/** Leaves: every posting that was packed is read again, by a walk over all terms and by a search for one; blocks tell the best that they have. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import { LeafReader } from '../../../src/search/leaf.ts'
import {
  createLeafCollector,
  createPacker,
  type EmitLeaf,
  leafBytesMax,
} from '../../../src/search/packer.ts'
import { createPostingList } from '../../../src/search/posting-list.ts'
import { appendPostings, eachTermOf, TermCursor } from '../../../src/search/postings.ts'
import { packedLeaves, type SegmentView } from '../../../src/search/segment-view.ts'
import { FilterWriter, openFilter } from '../../../src/search/term-filter.ts'
import { createRandom } from '../../site/words.ts'

const first = 1_000
const documents = 40_000
type Postings = { values: Uint32Array; quants: Uint8Array }

/** Terms with much in common, and with little; some longer than what the short form of a length can say. */
const texts = (random: () => number): string[] => {
  const parts = [
    'a',
    'abc',
    'ü',
    '食品',
    '😀',
    'x'.repeat(17),
    'internationalisation',
    '\ue000',
    '-',
  ]
  const pick = (): string => parts[Math.floor(random() * parts.length)] as string
  const all = Array.from({ length: 400 }, () =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, pick)
      .join('')
      .slice(0, 60),
  )
  return [...new Set(all)].filter((text) => text.isWellFormed()).toSorted()
}

function postingsOf(random: () => number): Postings {
  // One posting, a few, or so many that they fill leaves; dense or far apart.
  const share = random() < 0.05 ? random() : random() ** 12
  const values: number[] = []
  for (let value = Math.floor(random() * 20 * (1 / share)); value < documents;) {
    values.push(value)
    value += 1 + Math.floor((-Math.log(1 - random()) * 1) / share)
  }
  if (values.length === 0) values.push(Math.floor(random() * documents))
  const isEqual = random() < 0.3
  const usual = random() < 0.5 ? 8 : Math.floor(random() * 64)
  const quants = values.map(() => (isEqual || random() < 0.5 ? usual : Math.floor(random() * 64)))
  return { values: Uint32Array.from(values), quants: Uint8Array.from(quants) }
}

function pack(all: ReadonlyMap<string, Postings>, codes: Uint8Array): SegmentView {
  const collector = createLeafCollector()
  const filter = new FilterWriter()
  const emit: EmitLeaf = (bytes, n) => {
    assert.ok(bytes.length <= leafBytesMax)
    collector.emit(bytes, n)
  }
  const packer = createPacker(emit, codes, leafBytesMax, filter)
  for (const [term, { values, quants }] of all) packer.add(term, values, quants, values.length)
  const directory = packer.finish()
  const last = first + documents - 1
  const leaf = packedLeaves({
    ...collector.finish(),
    mindoc: first,
    maxdoc: last,
    dir: '',
    lens: new Uint8Array(),
  })
  const mayHold = openFilter(filter.finish(), directory.length)
  assert.ok(mayHold !== null)
  return { firstDocno: first, lastDocno: last, packed: { first, last }, directory, mayHold, leaf }
}

const spread = ({
  docnos,
  quants,
  count,
}: {
  docnos: Uint32Array
  quants: Uint8Array
  count: number
}) => Array.from({ length: count }, (_, i) => [docnos[i], quants[i]])

for (const seed of [1, 2, Date.now() % 1_000_000]) {
  describe(`leaves of postings (seed ${seed})`, () => {
    const random = createRandom(seed)
    const all = new Map(texts(random).map((text) => [text, postingsOf(random)]))
    const codes = Uint8Array.from({ length: documents }, () => 1 + Math.floor(random() * 255))
    const view = pack(all, codes)
    const expected = (term: string): (number | undefined)[][] => {
      const { values, quants } = all.get(term) ?? { values: [], quants: [] }
      return Array.from(values, (value, i) => [first + value, quants[i]])
    }

    it('are many, and give every posting back in a walk', () => {
      assert.ok(view.directory.length > 20)
      const cursor = new TermCursor(view)
      for (const term of all.keys()) {
        assert.equal(cursor.term, term)
        assert.deepEqual(spread(cursor.postings), expected(term), term)
        cursor.advance()
      }
      assert.equal(cursor.term, null)
    })

    it('give the postings of a term, and none for a term that is not there', () => {
      for (const term of all.keys()) {
        for (const asked of [
          term,
          `${term}a`,
          term.slice(0, -1),
          `${term.slice(0, -1)}b`,
          `${term}\uffff`,
        ]) {
          if (asked === '' || !asked.isWellFormed()) continue
          const list = createPostingList()
          appendPostings(list, view, asked)
          assert.deepEqual(spread(list), expected(asked), asked)
        }
      }
    })

    it('show a part of the documents only, where they are to', () => {
      const list = createPostingList()
      const [firstDocno, lastDocno] = [first + 700, first + 20_000]
      for (const term of all.keys()) {
        list.count = 0
        appendPostings(list, { ...view, firstDocno, lastDocno }, term)
        const within = expected(term).filter(
          ([docno = 0]) => docno >= firstDocno && docno <= lastDocno,
        )
        assert.deepEqual(spread(list), within)
      }
    })

    it('count the postings of their terms', () => {
      const counts = new Map<string, number>()
      view.directory.forEach((_, n) =>
        eachTermOf(view.leaf(n), (term, count) =>
          counts.set(term, (counts.get(term) ?? 0) + count),
        ),
      )
      assert.deepEqual(counts, new Map([...all].map(([term, { values }]) => [term, values.length])))
    })

    it('have long blocks that say where they end, and have no posting better than the best that they tell', () => {
      const reader = new LeafReader()
      const list = createPostingList()
      let long = 0
      view.directory.forEach((_, n) => {
        reader.load(view.leaf(n))
        while (reader.next()) {
          reader.open()
          list.count = 0
          if (!reader.isLong()) {
            reader.copyTo(list, 0)
            continue
          }
          long += 1
          const block = reader.block(0)
          const best: [number, number][] = []
          for (let at = block.best; at < block.bestEnd; at += 2)
            best.push([block.view.getUint8(at), block.view.getUint8(at + 1)])
          const last = reader.last
          reader.copyTo(list, 0)
          assert.equal(list.docnos[0], reader.first)
          assert.equal(list.docnos[list.count - 1], last)
          for (let i = 0; i < list.count; i += 1) {
            const [quant, code] = [
              list.quants[i] as number,
              codes[list.docnos[i] as number] as number,
            ]
            assert.ok(
              best.some(([q, c]) => q >= quant && c <= code),
              `${quant}, ${code} beside ${best.join(' ')}`,
            )
          }
        }
      })
      assert.ok(long > 50, `${long} long blocks`)
    })
  })
}
