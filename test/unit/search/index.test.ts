/** The index as a whole: after any history it answers like a naive one that was just built. */
import assert from 'node:assert'
import { afterEach, beforeEach, describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Db } from '../../../src/lib/sqlite.ts'
import { createIndexReader, createIndexWriter } from '../../../src/search/flex.ts'
import type { IndexedDocument, IndexReader, IndexWriter } from '../../../src/search/index.ts'
import {
  bury,
  createPlace,
  indexedDocument,
  indexQuery,
  naiveScores,
  type Place,
} from './index-fixture.ts'

const vocabulary = ['a', 'ab', 'b', 'café', 'ß', '食品', ' 食品', 'zz', '__proto__', '😀']
const forever = Number.POSITIVE_INFINITY

/** What can happen to an index, and what a crash can interrupt. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      hole: fc.nat(3),
      documents: fc.array(
        fc.dictionary(fc.constantFrom(...vocabulary), fc.integer({ min: 1, max: 300 })),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('work' as const), slices: fc.nat(6) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'flush' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'look' as const }) },
)

describe('an index after any history', () => {
  let place: Place
  beforeEach(() => {
    place = createPlace()
  })
  afterEach(() => place.remove())

  it('equals a naive index of the living documents, for an old reader and a new one', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const world = createWorld(place)
        for (const event of steps) world.run(event)
        world.compare()
        world.close()
      }),
      { numRuns: 100 },
    )
  })
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function createWorld(place: Place) {
  const db = place.open()
  db.exec('DELETE FROM seg; DELETE FROM leaf; DELETE FROM tombstone')
  const stored = new Map<number, IndexedDocument>()
  const living = new Map<number, IndexedDocument>()
  let next = 1
  let writer = restart(db)
  let reader = createIndexReader(place.open(true))

  function restart(on: Db): IndexWriter {
    const fresh = createIndexWriter(on, {
      pendingDocumentsMax: 5,
      fanIn: 2,
      deadCountMin: 1,
      nowMs: tick(),
    })
    // As the engine does: what is above the watermark is applied again, except for the dead, in other batches than before.
    const again = [...living.values()].filter(({ docno }) => docno > fresh.watermark())
    for (let i = 0; i < again.length; i += 3) hand(fresh.apply(again.slice(i, i + 3)))
    return fresh
  }
  function hand(segment: ReturnType<IndexWriter['apply']>): void {
    if (segment) reader.addPending(segment)
  }

  return {
    run(event: Step): void {
      switch (event.kind) {
        case 'add': {
          const documents = event.documents.map((frequencies, i) =>
            indexedDocument(next + event.hole + i, frequencies),
          )
          next += event.hole + documents.length
          for (const document of documents) {
            stored.set(document.docno, document)
            living.set(document.docno, document)
          }
          hand(writer.apply(documents))
          return
        }
        case 'remove': {
          const docnos = [...living.keys()]
          const docno = docnos[event.which % docnos.length]
          if (docno === undefined) return
          living.delete(docno)
          bury(db, docno)
          return
        }
        case 'work':
          for (let i = 0; i < event.slices; i += 1) writer.work(0, false)
          return
        case 'flush':
          while (writer.work(0, true));
          return
        case 'crash':
          writer = restart(db)
          return
        case 'look':
          check(reader, living)
          return
      }
    },
    compare(): void {
      check(reader, living)
      while (writer.work(0, true));
      check(reader, living)
      const other = place.open(true)
      check(createIndexReader(other), living)
      other.close()
      assert.equal(orphans(db), 0, 'no leaf without a segment')
    },
    close(): void {
      db.close()
    },
  }
}

/** A clock that runs on at each look, so that a slice of 0 ms ends as early as it can. */
const tick =
  (now = 0) =>
  () =>
    (now += 1)

const orphans = (db: Db): number =>
  Number(
    db
      .prepare<{ n: number }>(
        'SELECT count(*) AS n FROM leaf WHERE k / 1048576 NOT IN (SELECT id FROM seg)',
      )
      .value(),
  )

function check(reader: IndexReader, living: ReadonlyMap<number, IndexedDocument>): void {
  reader.begin()
  try {
    assert.equal(reader.documents(), living.size)
    for (const words of [...vocabulary.map((word) => [word]), ['a', 'b', 'zz'], ['食品', 'ab']]) {
      const query = indexQuery(words, { bigrams: [{ term: ' 食品', weight: 1 }] })
      const expected = naiveScores(living, query)
      const word = words[0] as string
      const holders = [...living.values()].filter(({ terms }) => terms.includes(word)).length
      assert.equal(reader.frequency(word), holders)
      const parts = Array.from({ length: reader.parts() }, (_, part) =>
        reader.frequencyIn(word, part),
      )
      assert.equal(
        parts.reduce((all, own) => all + own, 0),
        holders,
      )
      const { hits } = reader.search({ ...query, match: 'any' }, 1_000, forever)
      for (const { docno, score } of hits)
        assert.ok(
          Math.abs(score - (expected.get(docno) ?? -1)) < 1e-9,
          `${docno} of ${words.join()}`,
        )
      for (let i = 1; i < hits.length; i += 1)
        assert.ok((hits[i - 1]?.score ?? 0) >= (hits[i]?.score ?? 0))
      const wanted = [...living.values()].filter(
        ({ terms }) => words.some((w) => terms.includes(w)) || terms.includes(' 食品'),
      )
      assert.deepEqual(
        hits.map(({ docno }) => docno).sort((a, b) => a - b),
        wanted.map(({ docno }) => docno),
      )
    }
  } finally {
    reader.end()
  }
}
