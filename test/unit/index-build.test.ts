/** The next generation of the index, made beside the one that answers: through adds, removals and crashes, at any slice. */
import assert from 'node:assert'
import { afterEach, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { textTables } from '../../src/assets.ts'
import { IndexBuild, isUnfinished, type Recipe } from '../../src/index-build.ts'
import { checkIndex } from '../../src/search/check.ts'
import { createCurrentAnalyzer } from '../../src/search/current-analyzer.ts'
import { loadTextTables } from '../../src/text/tables.ts'
import { createAnalyzer } from '../../src/text/tokenize.ts'
import { analyzerKey, withUserWords } from '../../src/text/user-words.ts'
import { createCollection, searchRequest, type Collection } from './search/collection.ts'

const dictionary = loadTextTables(textTables())
const recipeOf = (words: readonly string[]): Recipe => ({
  key: analyzerKey(words),
  words,
  analyzer: createAnalyzer(withUserWords(dictionary, words)),
})
/** Runs on at each look: a slice of 0 ms ends at the first. */
const tick =
  (now = 0) =>
  () =>
    (now += 1)
const slicesMax = 20_000

/** 灵犀造物 is no word of the dictionary. */
const textOf = (n: number): string =>
  `common word${n % 7} odd${n} 灵犀造物第${n}号的说明 ${n % 3 === 0 ? '造物主' : '犀牛'}`
const urlOf = (n: number): string => `http://a.example/${n}`

class World {
  readonly collection: Collection
  readonly living = new Set<number>()
  build: IndexBuild | null = null
  #next = 0
  readonly #recipe: Recipe

  constructor(words: readonly string[]) {
    this.#recipe = recipeOf(words)
    this.collection = createCollection({
      searchBy: (reader) => createCurrentAnalyzer(reader, dictionary),
      pendingDocumentsMax: 7,
      fanIn: 3,
      deadCountMin: 2,
      nowMs: tick(),
      isPair: () => this.build !== null,
    })
    const { store } = this.collection
    store.transaction(() => store.meta.set('analyzer', analyzerKey([])))
  }

  add(count: number): void {
    const first = this.#next + 1
    this.#next += count
    const numbers = Array.from({ length: count }, (_, i) => first + i)
    this.collection.add(numbers.map((n) => ({ url: urlOf(n), title: `t${n}`, text: textOf(n) })))
    for (const n of numbers) this.living.add(n)
  }

  remove(which: number): void {
    const n = [...this.living][which % this.living.size]
    if (n === undefined) return
    this.living.delete(n)
    this.collection.remove(urlOf(n))
  }

  begin(): void {
    this.build = new IndexBuild(this.collection.store, this.#recipe, this.collection.writer.ids, {
      pendingDocumentsMax: 5,
      nowMs: tick(),
    })
  }

  /** @returns whether there is nothing more to do */
  step(): boolean {
    if (this.collection.writer.work(0, false)) return false
    if (this.build === null) return true
    if (this.build.step(0)) {
      this.build = null
      this.collection.reopenWriter(this.collection.writer.ids)
    }
    return false
  }

  /** All that is in memory is gone. */
  crash(): void {
    const isCutOff = isUnfinished(this.collection.store, this.#recipe.key)
    this.collection.reopenWriter()
    this.build = null
    if (isCutOff) this.begin()
  }

  found(q: string): number[] {
    const { hits } = this.collection.searcher.answer(
      searchRequest(q, { limit: 50 }),
      performance.now() + 60_000,
    )
    return hits.map(({ url }) => Number(url.split('/').at(-1))).toSorted((a, b) => a - b)
  }

  compare(): void {
    // Both generations, and what a reader would find who opens the file now.
    assert.deepEqual(checkIndex(this.collection.store.db), [])
    const expected = [...this.living].toSorted((a, b) => a - b)
    for (const q of ['common', '灵犀造物', '"灵犀造物第"'])
      assert.deepEqual(this.found(q), expected, q)
    const third = expected.filter((n) => n % 3 === 0)
    assert.deepEqual(this.found('造物主'), third)
  }

  end(): void {
    for (let slices = 0; !this.step(); slices += 1)
      assert.ok(slices < slicesMax, 'the build comes to an end')
    this.compare()
    this.collection.settle()
    assert.deepEqual(checkIndex(this.collection.store.db), [])
    this.compare()
    const { db } = this.collection.store
    const orphans = db
      .prepare('SELECT count(*) FROM leaf WHERE k >> 20 NOT IN (SELECT id FROM seg)')
      .value()
    assert.equal(orphans, 0, 'no leaf of the old generation is left')
  }
}

const event = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), which: fc.nat() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('step' as const),
      slices: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'compare' as const }) },
)

describe('the next generation of an index', () => {
  let world: World | null = null
  afterEach(() => {
    world?.collection.close()
    world = null
  })

  it('answers as the one before it, whatever comes between its slices', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 25 }), (events) => {
        world = new World([])
        world.add(20)
        world.collection.settle()
        world.begin()
        for (const happens of events) {
          if (happens.kind === 'add' && world.living.size < 45) world.add(happens.count)
          else if (happens.kind === 'remove') world.remove(happens.which)
          else if (happens.kind === 'crash') world.crash()
          else if (happens.kind === 'compare') world.compare()
          else if (happens.kind === 'step') for (let i = 0; i < happens.slices; i += 1) world.step()
        }
        world.end()
        world.collection.close()
        world = null
      }),
      { numRuns: 25 },
    )
  })

  it('knows the new words at once when it answers, and not before', () => {
    world = new World(['灵犀造物'])
    world.add(20)
    const words = (): number =>
      world?.collection.searcher.answer(
        searchRequest('灵犀造物', { explain: true }),
        performance.now() + 60_000,
      ).query.parsed.must.length ?? 0
    const before = words()
    assert.ok(before > 1, 'the dictionary cuts it')
    world.begin()
    assert.equal(words(), before)
    world.end()
    // The word is found as one, beside what is inside of it.
    assert.deepEqual(
      world.collection.searcher.answer(searchRequest('灵犀造物'), performance.now() + 60_000).query
        .parsed.must,
      ['灵犀造物'],
    )
    assert.equal(world.collection.store.meta.get('analyzer'), analyzerKey(['灵犀造物']))
  })

  it('goes on where it was cut off, not from the beginning', () => {
    world = new World([])
    world.add(40)
    world.begin()
    const { db } = world.collection.store
    const reached = (): number =>
      Number(db.prepare('SELECT coalesce(max(maxdoc), 0) FROM seg_next').value())
    while (reached() < 20) world.step()
    const at = reached()
    world.crash()
    assert.equal(reached(), at)
    assert.ok((world.build?.progress().done ?? 0) >= 20)
    world.end()
  })

  it('leaves the one that answers alone when it is given up', () => {
    world = new World(['灵犀造物'])
    world.add(30)
    world.begin()
    const { db } = world.collection.store
    while (db.prepare('SELECT count(*) FROM seg_next').value() === 0) world.step()
    world.build?.abandon()
    world.build = null
    world.compare()
    world.crash()
    world.end()
    assert.equal(world.collection.store.meta.get('analyzer'), analyzerKey([]))
  })
})
