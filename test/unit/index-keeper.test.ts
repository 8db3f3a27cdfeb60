/** The index while `words.txt` changes: whatever is under way then, in the end it is made by the present analyzer with the words of the file. */
import assert from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { textTables } from '../../src/assets.ts'
import { IndexKeeper } from '../../src/index-keeper.ts'
import { checkIndex } from '../../src/search/check.ts'
import { createCurrentAnalyzer } from '../../src/search/current-analyzer.ts'
import { createSearcher } from '../../src/search/search.ts'
import { openReader } from '../../src/store/reader.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { loadTextTables } from '../../src/text/tables.ts'
import { analyzerKey } from '../../src/text/user-words.ts'
import { createCollection, searchRequest } from './search/collection.ts'

const dictionary = loadTextTables(textTables())
/** More than are indexed anew before the start is over. */
const documents = 620
const lookMs = 1_000
const pending = { bytesMax: 4_194_304, ageMsMax: 30_000 }

type Place = {
  store: Store
  /** Writes the file, and lets the keeper look at it. */
  setWords: (words: readonly string[]) => void
  openKeeper: () => IndexKeeper
  /** Pages found for 灵犀造物, and what `check` says of the index. */
  judge: () => void
}

/** @param madeBy the key that the index claims to be made with */
function createPlace(test: TestContext, madeBy: string): Place {
  const folder = mkdtempSync(join(tmpdir(), 'findling-keeper-'))
  const collection = createCollection({ folder })
  collection.add(
    Array.from({ length: documents }, (_, i) => ({
      url: `http://a.example/${i}`,
      text: `第${i}号 ${i % 10 === 0 ? '灵犀造物' : '说明'}`,
      lang: 'zh',
    })),
  )
  collection.settle()
  collection.store.transaction(() => {
    collection.store.meta.set('analyzer', madeBy)
    collection.store.meta.set('words', '')
  })
  collection.close()
  const store = openStore(join(folder, 'findling.db'))
  test.mock.timers.enable({ apis: ['setInterval'] })
  let keeper: IndexKeeper | null = null
  test.after(() => {
    keeper?.close()
    store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    store,
    setWords(words) {
      writeFileSync(join(folder, 'words.txt'), words.join('\n'))
      test.mock.timers.tick(lookMs)
    },
    openKeeper() {
      keeper?.close()
      keeper = new IndexKeeper(store, dictionary, () => undefined, pending)
      return keeper
    },
    judge() {
      assert.deepEqual(checkIndex(store.db), [])
      const reader = openReader(join(folder, 'findling.db'))
      const searcher = createSearcher(reader, createCurrentAnalyzer(reader, dictionary))
      const { total } = searcher.answer(searchRequest('灵犀造物'), performance.now() + 60_000)
      assert.deepEqual(total, { value: documents / 10, relation: 'eq' })
      reader.close()
    },
  }
}

const words = ['灵犀造物']

describe('the index while words.txt changes', () => {
  it('is made by the present analyzer where words came and went while an older index was replaced', async (test) => {
    const { store, setWords, openKeeper, judge } = createPlace(test, '1')
    const keeper = openKeeper()
    assert.equal(store.meta.get('next_analyzer'), analyzerKey([]))
    setWords(words)
    assert.equal(store.meta.get('next_analyzer'), analyzerKey(words))
    judge()
    setWords([])
    // The words are those of the index that answers; its analyzer is not the present one.
    assert.equal(keeper.reindexProgress().running, true)
    await keeper.finish()
    assert.equal(store.meta.get('analyzer'), analyzerKey([]))
    assert.equal(store.meta.get('next_analyzer'), '')
    judge()
  })

  it('has the last words where they change twice while an older index is replaced, and a stop comes between', async (test) => {
    const { store, setWords, openKeeper, judge } = createPlace(test, '1')
    openKeeper()
    setWords(['造物第一'])
    setWords(words)
    const again = openKeeper()
    assert.equal(store.meta.get('next_analyzer'), analyzerKey(words))
    await again.finish()
    assert.equal(store.meta.get('analyzer'), analyzerKey(words))
    assert.equal(store.meta.get('words'), words.join('\n'))
    judge()
  })

  it('is made again as it was wished, though words came and went meanwhile', async (test) => {
    const { store, setWords, openKeeper, judge } = createPlace(test, analyzerKey([]))
    const keeper = openKeeper()
    assert.equal(keeper.reindexProgress().running, false)
    const before = Number(store.meta.get('index_generation') ?? 0)
    keeper.reindex()
    setWords(words)
    setWords([])
    await keeper.finish()
    assert.equal(Number(store.meta.get('index_generation')), before + 1)
    assert.equal(store.meta.get('analyzer'), analyzerKey([]))
    judge()
    // Once is enough.
    setWords(words)
    setWords([])
    assert.equal(keeper.reindexProgress().running, false)
    assert.equal(store.meta.get('next_analyzer'), '')
  })

  it('stays as it is where words came and went, and nothing else is wished', async (test) => {
    const { store, setWords, openKeeper, judge } = createPlace(test, analyzerKey([]))
    const keeper = openKeeper()
    setWords(words)
    assert.equal(keeper.reindexProgress().running, true)
    setWords([])
    assert.equal(keeper.reindexProgress().running, false)
    await keeper.finish()
    assert.equal(store.meta.get('index_generation') ?? '0', '0')
    judge()
  })
})
