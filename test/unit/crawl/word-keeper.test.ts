/** Word lists in force over a store: what comes is dropped, masked, flagged; what is there follows a changed list, also after a crash. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as rest } from 'node:timers/promises'
import { nothingCommitted } from '../../../src/crawl/commit.ts'
import { openDuplicates } from '../../../src/crawl/duplicates.ts'
import { explainUrl } from '../../../src/crawl/explain.ts'
import { HostRules } from '../../../src/crawl/host-rules.ts'
import { openFrontier } from '../../../src/crawl/frontier-sqlite.ts'
import { importLines } from '../../../src/crawl/import-lines.ts'
import { readRecord } from '../../../src/crawl/imported.ts'
import { createParser } from '../../../src/crawl/parse.ts'
import { packText } from '../../../src/lib/packed-text.ts'
import { openStore } from '../../../src/store/store.ts'
import { checkStore } from '../../../src/store/check.ts'
import { createAnalyzer } from '../../../src/text/tokenize.ts'
import { packWords } from '../../../src/text/word-list.ts'
import { openWords } from '../../../src/text/word-match.ts'
import { readWordFolder } from '../../../src/word-folder.ts'
import { WordKeeper } from '../../../src/word-keeper.ts'
import { loadTestTables } from '../../text-tables.ts'

const analyzer = createAnalyzer(loadTestTables())
const keywords = {
  keywords: () =>
    Promise.resolve([
      { word: '赌博', weight: 3 },
      { word: 'news', weight: 2 },
    ]),
}
const closing: (() => void)[] = []
after(() => closing.toReversed().forEach((close) => close()))

function open() {
  const directory = mkdtempSync(join(tmpdir(), 'findling-words-'))
  const folder = join(directory, 'filters')
  mkdirSync(folder)
  const store = openStore(join(directory, 'findling.db'))
  const frontier = openFrontier(store, { covers: () => false, now: Date.now })
  const logged: string[] = []
  const changed: number[] = []
  const start = () => {
    const duplicates = openDuplicates(store.db)
    const keeper = new WordKeeper({
      store,
      duplicates,
      folder,
      onChanged: (docnos) => changed.push(...docnos),
      log: (_, event) => logged.push(event),
    })
    closing.push(() => keeper.close())
    return { keeper, duplicates }
  }
  closing.push(() => {
    store.close()
    rmSync(directory, { recursive: true })
  })
  let now = start()
  const add = (pages: Record<string, string>, title = 'A page') =>
    importLines(
      Object.entries(pages).map(([path, text], i) => ({
        number: i + 1,
        text: JSON.stringify({ url: `http://a.test/${path}`, title, text, fields: { tag: text } }),
      })),
      true,
      {
        store,
        frontier,
        duplicates: now.duplicates,
        analyse: (record) => {
          const { packed } = now.keeper.inForce()
          const words = packed === null ? null : openWords(packed)
          return readRecord(record, store.fingerprintSeed, analyzer, keywords, words)
        },
        onCommitted: () => {},
        now: Date.now,
      },
    )
  const page = (path: string) => {
    const row = store.urlRow(`http://a.test/${path}`)
    return row === null ? null : store.documentByUrlId(row.id)
  }
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text)
  return {
    store,
    folder,
    logged,
    changed,
    add,
    page,
    write,
    keeper: () => now.keeper,
    restart: (): void => {
      now.keeper.close()
      now = start()
    },
    applied: async (): Promise<void> => {
      now.keeper.begin()
      now.keeper.look()
      while (!now.keeper.status().applied) await rest(5)
    },
  }
}

const texts = {
  clean: '今天的天气很好',
  casino: '我爱賭 博，也爱casino',
  drug: '卖毒品的人',
  stock: '买股票',
}
const files = {
  'gamble.mask.txt': '赌博\ncasino',
  'hard.drop.txt': '毒品',
  'money.flag.txt': '股票',
}

describe('pages that come under word lists', () => {
  it('are dropped, masked and flagged, and it is said why', async () => {
    const { store, add, page, write, restart } = open()
    for (const [file, text] of Object.entries(files)) write(file, text)
    restart()
    const imported = await add(texts)
    assert.deepEqual([imported.stored, imported.filtered], [3, 1])
    assert.equal(page('casino')?.text, '我爱＊＊＊，也爱＊＊＊＊＊＊')
    assert.equal(page('casino')?.fields['tag'], '我爱＊＊＊，也爱＊＊＊＊＊＊')
    assert.equal(page('drug'), null)
    assert.deepEqual(page('stock')?.fields['flag'], ['money'])
    assert.equal(page('clean')?.fields['flag'], undefined)
    const { lines } = explainUrl('http://a.test/drug', {
      store,
      robots: { recall: () => null } as never,
      scopes: new Map(),
      seen: { mayHave: () => true, add: () => {} },
      rules: new HostRules(store),
      described: { ruleFor: () => null },
    })
    const told = lines.map(({ text }) => text)
    assert.ok(told.includes('refused: filtered'), told.join('\n'))
    assert.ok(
      told.includes('list "hard" (drop): "毒品", 2 times, first in text 1'),
      told.join('\n'),
    )
    assert.deepEqual(checkStore(store.db), [])
  })
  it('lose their words wherever HTML has them, and keep their links', async () => {
    const parser = createParser({
      analyzer,
      keywords,
      decodedBytesMax: 1e6,
      words: () =>
        openWords(packWords([{ name: 'x', policy: 'mask', words: ['赌博'], allowed: [] }])),
    })
    const html = `<html><head><title>赌-博 新闻</title><meta name=description content="赌博 is bad"><meta name=author content="赌博王"></head>
      <body><nav>赌博 nav</nav><main><h1>賭博 title</h1><h2>賭博 part</h2><p>${'关于赌\u200b博的长文章。'.repeat(20)}</p><a href="/next">more</a></main></body></html>`
    const outcome = await parser.parse({
      url: 'http://a.test/',
      body: new Uint8Array(Buffer.from(html)).buffer,
      encoding: '',
      contentType: 'text/html; charset=utf-8',
      robotsTag: '',
      rule: null,
      depth: 0,
      seed: 1,
    })
    assert.equal(outcome.kind, 'page')
    if (outcome.kind !== 'page') return
    const { title, description, author, headings, terms, links, words } = outcome.page
    assert.deepEqual([title, author, headings], ['＊＊＊ 新闻', '＊＊王', '＊＊ part'])
    assert.match(description, /^＊＊ is/)
    assert.deepEqual(
      terms.split('\n').filter((term) => term.includes('赌')),
      [],
    )
    assert.deepEqual(links, ['http://a.test/next'])
    assert.equal(words?.[0]?.word, '赌博')
  })
})

describe('a changed list', () => {
  it('is applied to what is stored, and a loosened one gives back only flags', async () => {
    const { store, add, page, write, applied, folder, changed } = open()
    await add(texts)
    await add({ twin: texts.casino })
    assert.equal(page('casino')?.text, texts.casino)
    store.db.exec('UPDATE doc SET expires_at=9000000000000, flags=1')
    for (const [file, text] of Object.entries(files)) write(file, text)
    await applied()
    assert.equal(page('casino')?.text, '我爱＊＊＊，也爱＊＊＊＊＊＊')
    assert.equal(page('twin')?.text, '我爱＊＊＊，也爱＊＊＊＊＊＊')
    assert.equal(page('twin')?.duplicate_of, page('casino')?.id)
    assert.deepEqual(page('casino')?.keywords, ['news'])
    assert.deepEqual(
      store.db.prepare<{ word: string }>("SELECT word FROM keyword WHERE word <> ''").all(),
      [{ word: 'news' }],
    )
    assert.equal(page('drug'), null)
    assert.deepEqual(page('stock')?.fields['flag'], ['money'])
    assert.equal(page('clean')?.text, texts.clean)
    assert.ok(changed.length >= 2)
    assert.deepEqual(
      store.db.prepare('SELECT DISTINCT expires_at AS e, flags AS f FROM doc').all(),
      [{ e: 9_000_000_000_000, f: 1 }],
    )
    assert.deepEqual(checkStore(store.db), [])
    for (const file of Object.keys(files)) rmSync(join(folder, file))
    await applied()
    assert.equal(page('stock')?.fields['flag'], undefined)
    assert.equal(page('casino')?.text, '我爱＊＊＊，也爱＊＊＊＊＊＊')
    assert.equal(page('drug'), null)
    await add({ drug: texts.drug, casino: texts.casino })
    assert.equal(page('drug')?.text, texts.drug)
    assert.equal(page('casino')?.text, texts.casino)
    assert.deepEqual(checkStore(store.db), [])
  })
  it('is applied to the end after a stop in the middle', async () => {
    const { store, add, page, write, applied, keeper, restart } = open()
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`p${i}`, `赌博 ${i}`]))
    await add(many)
    write('g.mask.txt', '赌博')
    keeper().look()
    keeper().close()
    // As if the process had died after the first 30 documents.
    const digest = readWordFolder(join(store.db.file, '../filters')).digest
    const docno = store.wholeDocumentsAfter(0, 30).at(-1)?.docno ?? 0
    store.transaction(() => {
      store.meta.set('words_target', digest)
      store.meta.set('words_applied', '?')
      store.meta.set('words_cursor', docno)
    })
    restart()
    await applied()
    assert.equal(page('p0')?.text, '赌博 0') // was judged before, says the watermark
    for (let i = 30; i < 60; i += 1) assert.equal(page(`p${i}`)?.text, `＊＊ ${i}`)
  })
  it('reaches pages that were parsed under the old one and stored after the pass', async () => {
    const { store, add, page, write, applied, keeper } = open()
    await add({ early: '赌博' })
    write('g.mask.txt', '赌博')
    await applied()
    // Stored behind the back of the keeper, as a late parser would.
    const row = store.urlRow('http://a.test/early')
    assert.ok(row)
    const [whole] = store.wholeDocumentsAfter(0, 1)
    assert.ok(whole)
    const put = store.transaction(() =>
      store.putDocument({
        ...whole,
        body: packText('x'),
        rest: null,
        title: '赌博',
        changed: true,
      }),
    )
    keeper().committed({ ...nothingCommitted(), firstDocno: put.docno, wordsVersion: 0 })
    await applied()
    assert.equal(page('early')?.title, '＊＊')
  })
  it('with mistakes says where, and the rest of it holds', async () => {
    const { add, page, write, applied, logged, keeper } = open()
    await add({ a: '赌博' })
    write('g.mask.txt', '...\n赌博')
    write('nothing.txt', '天气')
    await applied()
    assert.equal(page('a')?.text, '＊＊')
    assert.deepEqual(
      logged.filter((line) => line.startsWith('word list:')).map((line) => line.slice(0, 40)),
      ['word list: g.mask.txt, line 1: "..." has', 'word list: nothing.txt, nothing says wha'],
    )
    assert.equal(keeper().status().problems.length, 2)
    assert.deepEqual(keeper().status().words[0], {
      list: 'g',
      policy: 'mask',
      word: '赌博',
      documents: 1,
      hits: 2,
    })
  })
})
