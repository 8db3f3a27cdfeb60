/** Documents, hosts, jobs and URLs in the store: what is kept, what changes, what a reader sees. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkStore } from '../../../src/store/check.ts'
import { documentKey } from '../../../src/store/read-documents.ts'
import { openReader } from '../../../src/store/reader.ts'
import type { CrawlSpec, JobCounts } from '../../../src/store/records.ts'
import { type Store } from '../../../src/store/store.ts'
import * as fc from 'fast-check'
import {
  newFile,
  opened,
  open,
  type Page,
  put,
  idOf,
  remove,
  tombstones,
  fingerprint,
  a,
  b,
  c,
  d,
} from './store-fixture.ts'

describe('a document', () => {
  it('comes back as it was stored', () => {
    const store = open()
    put(store, a, {
      text: '正文 text',
      lang: 'zh',
      publishedAtMs: Date.UTC(2026, 0, 2),
      extra: {
        description: 'short',
        author: 'somebody',
        headings: 'one\ntwo',
        keywords: ['k'],
        fields: { price: 5, tags: ['x', 'y'] },
      },
    })
    const record = {
      id: documentKey(a),
      url: a,
      title: 'Title',
      text: '正文 text',
      lang: 'zh',
      type: 'text/html',
      fields: { price: 5, tags: ['x', 'y'] },
      noarchive: false,
      description: 'short',
      author: 'somebody',
      keywords: ['k'],
      published_at: '2026-01-02T00:00:00.000Z',
      fetched_at: '1970-01-01T00:00:01.000Z',
      changed_at: '1970-01-01T00:00:01.000Z',
      size: 1_234,
      group: null,
      duplicate_of: null,
    }
    assert.deepEqual(store.documentRecord(documentKey(a)), record)
    assert.deepEqual(store.documentByUrlId(idOf(store, a)), record)
    assert.deepEqual(store.documentByDocno(1), record)
  })
  it('has an id made of its URL alone: 12 characters that fit into a path', () => {
    assert.equal(documentKey('http://a.test/'), documentKey('http://a.test/'))
    assert.notEqual(documentKey('http://a.test/'), documentKey('http://a.test/?'))
    assert.match(documentKey('http://例子.test/路径'), /^[\w-]{12}$/)
  })
  it('is not found under an id that is none', () => {
    const store = open()
    put(store, a)
    for (const id of ['', 'x', documentKey(b), `${documentKey(a)}AAAA`, '../../etc', '\0'])
      assert.equal(store.documentRecord(id), null, id)
    assert.equal(store.documentByDocno(2), null)
    assert.equal(store.textByDocno(2), null)
  })
  it('keeps docno and time of change when nothing changed', () => {
    const store = open()
    const first = put(store, a)
    const second = put(store, a, { fetchedAtMs: 9_000, size: 77 })
    assert.deepEqual(second, { ...first, isNew: false })
    const record = store.documentRecord(documentKey(a))
    assert.equal(record?.fetched_at, '1970-01-01T00:00:09.000Z')
    assert.equal(record?.changed_at, '1970-01-01T00:00:01.000Z')
    assert.deepEqual(tombstones(store), [])
  })
  it('keeps docno and time of change when only its keywords were found by other rules', () => {
    const store = open()
    const said = { description: '', author: '', headings: '', fields: {} }
    const first = put(store, a, { extra: { ...said, keywords: ['old', 'both'] } })
    const extra = { ...said, keywords: ['both', 100, 'new', 40] }
    assert.deepEqual(put(store, a, { extra, fetchedAtMs: 9_000 }), { ...first, isNew: false })
    const record = store.documentRecord(documentKey(a))
    assert.deepEqual(record?.keywords, ['both', 'new'])
    const counted = store.db.prepare<{ ids: string }>('SELECT hex(ids) AS ids FROM doc_keyword')
    const numbers = ['both', 'new'].map((word) =>
      store.db.prepare<{ id: number }>('SELECT id FROM keyword WHERE key=?').value(word),
    )
    assert.deepEqual(counted.all(), [{ ids: '0000000200000003' }])
    assert.deepEqual(numbers, [2, 3])
    assert.equal(record?.changed_at, '1970-01-01T00:00:01.000Z')
  })
  it('gets a new docno when anything of it changed, and the old one is buried', () => {
    const extra = { description: '', author: '', headings: 'new', keywords: [], fields: {} }
    const changes: Page[] = [
      { text: 'other' },
      { rest: 'other' },
      { title: 'other' },
      { lang: 'de' },
      { type: 'text/plain' },
      { publishedAtMs: 5 },
      { extra },
      { changed: true },
    ]
    for (const change of changes) {
      const store = open()
      put(store, a)
      const changed = put(store, a, { ...change, fetchedAtMs: 9_000 })
      assert.deepEqual(changed, { docno: 2, isNew: true, copyOf: null, promoted: null })
      assert.deepEqual(tombstones(store), [1])
      assert.equal(store.documentByDocno(1), null)
      assert.equal(store.documentByDocno(2)?.changed_at, '1970-01-01T00:00:09.000Z')
    }
  })
  it('is as it was where the caller says so', () => {
    const store = open()
    put(store, a)
    assert.equal(put(store, a, { text: 'other', changed: false }).isNew, false)
    store.transaction(() => store.touchDocument(idOf(store, a), 5_000))
    assert.equal(store.documentByDocno(1)?.fetched_at, '1970-01-01T00:00:05.000Z')
  })
  it('is gone with its text when it is removed; removing it again is no error', () => {
    const store = open()
    put(store, a)
    assert.deepEqual(remove(store, a), { docno: 1, promoted: null })
    assert.equal(remove(store, a), null)
    assert.equal(store.documentRecord(documentKey(a)), null)
    assert.equal(store.db.prepare<{ n: number }>('SELECT count(*) AS n FROM doc_text').value(), 0)
    assert.deepEqual(tombstones(store), [1])
  })
  it('never gets a docno that was used before, also when all traces of it are gone', () => {
    const file = newFile()
    const store = open(file)
    for (const url of [a, b, c]) put(store, url)
    remove(store, c)
    store.db.exec('DELETE FROM tombstone')
    store.close()
    assert.equal(put(open(file), d).docno, 4)
  })
  it('leaves no trace of a transaction that failed', () => {
    const store = open()
    put(store, a)
    const { generation } = store.stats()
    assert.throws(() =>
      store.transaction(() => {
        store.removeDocument(idOf(store, a))
        throw new Error('no')
      }),
    )
    assert.equal(store.documentByDocno(1)?.url, a)
    assert.equal(store.stats().generation, generation)
    assert.equal(put(store, b).docno, 2)
  })
})

describe('an exact copy', () => {
  const withCopies = (): Store => {
    const store = open()
    put(store, a)
    for (const url of [b, c]) put(store, url, { copyOf: idOf(store, a) })
    return store
  }
  it('names its original and has no text to be indexed', () => {
    const store = withCopies()
    assert.equal(store.documentRecord(documentKey(b))?.duplicate_of, documentKey(a))
    assert.deepEqual(
      store.documentsAfter(0, 10).map(({ url }) => url),
      [a],
    )
  })
  it('takes the place of an original that is removed; the other copies follow it', () => {
    const store = withCopies()
    const removed = remove(store, a)
    assert.deepEqual(removed, { docno: 1, promoted: { urlId: idOf(store, b), docno: 4 } })
    assert.equal(store.documentRecord(documentKey(b))?.duplicate_of, null)
    assert.equal(store.documentRecord(documentKey(b))?.text, 'text')
    assert.equal(store.documentRecord(documentKey(c))?.duplicate_of, documentKey(b))
    assert.deepEqual(tombstones(store), [1])
  })
  for (const change of [{ text: 'new' }, { title: 'new' }])
    it(`takes the place of an original that changes: ${JSON.stringify(change)}`, () => {
      const changed = withCopies()
      const { promoted } = put(changed, a, change)
      assert.equal(promoted?.urlId, idOf(changed, b))
      assert.equal(changed.documentRecord(documentKey(c))?.duplicate_of, documentKey(b))
    })
  it('follows an original of which neither text nor title changes', () => {
    const store = withCopies()
    const { isNew, promoted } = put(store, a, { rest: 'new' })
    assert.deepEqual([isNew, promoted], [true, null])
    assert.equal(store.documentRecord(documentKey(b))?.duplicate_of, documentKey(a))
  })
  it('has its own postings where its title is another: its words would be found nowhere', () => {
    const store = withCopies()
    assert.equal(put(store, d, { copyOf: idOf(store, a), title: 'Another' }).copyOf, null)
    // Pages without a title have their addresses instead.
    put(store, `${a}/untitled`, { title: `${a}/untitled` })
    const copyOf = idOf(store, `${a}/untitled`)
    assert.equal(put(store, d, { copyOf, title: d }).copyOf, copyOf)
    assert.equal(put(store, d, { copyOf, title: 'Another' }).copyOf, null)
    assert.deepEqual(checkStore(store.db), [])
  })
  it('becomes a document of its own under a new docno, without a tombstone: it had no postings', () => {
    const store = withCopies()
    assert.deepEqual(put(store, c, { text: 'own' }), {
      docno: 4,
      isNew: true,
      copyOf: null,
      promoted: null,
    })
    assert.deepEqual(tombstones(store), [])
  })
  it('is a copy of the original where it is said to be a copy of a copy, and never of itself', () => {
    const store = withCopies()
    assert.equal(put(store, d, { copyOf: idOf(store, b) }).copyOf, idOf(store, a))
    assert.deepEqual(put(store, a, { copyOf: idOf(store, b) }), {
      docno: 1,
      isNew: false,
      copyOf: null,
      promoted: null,
    })
    assert.equal(put(store, a, { copyOf: idOf(store, a) }).copyOf, null)
  })
  it('is refused where its original has no document', () => {
    const store = open()
    assert.throws(() => put(store, a, { copyOf: 99 }), /which has no document/)
  })
  it('has a living original after any changes', () => {
    const urls = [a, b, c, d]
    const which = fc.nat(urls.length - 1)
    const change = fc.record({
      page: which,
      to: fc.constantFrom('put', 'copy', 'remove'),
      of: which,
      text: fc.nat(2),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
        const store = open()
        let highest = 0
        for (const { page, to, of, text } of changes) {
          const url = urls[page] ?? a
          if (to === 'remove') {
            if (store.urlRow(url) === null) continue
            const removed = remove(store, url)
            if (removed !== null)
              store.db.exec(`UPDATE url SET outcome='gone' WHERE id=${idOf(store, url)}`)
            highest = Math.max(highest, removed?.promoted?.docno ?? 0)
            continue
          }
          const original = store.urlRow(urls[of] ?? a)
          const hasOriginal = original !== null && store.documentByUrlId(original.id) !== null
          const copyOf = to === 'copy' && hasOriginal ? original.id : null
          const { docno, isNew } = put(store, url, { text: `text ${text}`, copyOf })
          if (isNew) assert.ok(docno > highest, 'a docno only grows')
          highest = Math.max(highest, docno)
          store.db.exec(`UPDATE url SET outcome='imported' WHERE id=${idOf(store, url)}`)
        }
        assert.deepEqual(checkStore(store.db), [])
        store.close()
      }),
      { numRuns: 15 },
    )
  })
})

describe('pages of the store', () => {
  it('give each text once, in docno order, a part at a time', () => {
    const store = open()
    for (const [n, url] of [a, b, c, d].entries())
      put(store, url, { text: `text ${n}`, rest: 'rest' })
    put(store, a, { title: 'changed', text: 'text 0', rest: 'rest' })
    const seen: string[] = []
    for (
      let last = 0, page = store.documentsAfter(0, 2);
      page.length > 0;
      page = store.documentsAfter(last, 2)
    ) {
      seen.push(...page.map(({ docno, text }) => `${docno} ${text}`))
      last = page.at(-1)?.docno ?? last
    }
    assert.deepEqual(seen, ['2 text 1', '3 text 2', '4 text 3', '5 text 0'])
    assert.deepEqual(store.textByDocno(5), {
      docno: 5,
      url: a,
      title: 'changed',
      headings: '',
      text: 'text 0',
      rest: 'rest',
    })
  })
  it('export each page once, also one that changes meanwhile', () => {
    const store = open()
    for (const url of [a, b, c]) put(store, url)
    const first = store.exportAfter(0, 2)
    assert.deepEqual(
      first.records.map(({ url }) => url),
      [a, b],
    )
    put(store, a, { text: 'changed' })
    const second = store.exportAfter(first.cursor ?? 0, 2)
    assert.deepEqual(
      second.records.map(({ url }) => url),
      [c],
    )
    assert.equal(second.cursor, null)
    assert.deepEqual(open().exportAfter(0, 2), { records: [], cursor: null })
  })
  it('name a group equally for its pages and for no other; a page without copies has one of its own in an export, else none', () => {
    const store = open()
    for (const url of [a, b, c]) put(store, url)
    put(store, d, { copyOf: idOf(store, a) })
    fingerprint(store, a, a, 1)
    fingerprint(store, b, a, 2)
    fingerprint(store, c, c, 3)
    fingerprint(store, d, a, 1)
    const groups = store.exportAfter(0, 10).records.map(({ group }) => group)
    assert.deepEqual(groups, [groups[0], groups[0], groups[2], groups[0]])
    assert.equal(new Set(groups).size, 2)
    assert.ok(groups.every((group) => typeof group === 'string'))
    assert.equal(store.documentRecord(documentKey(c))?.group, null)
    assert.deepEqual(store.groupOf(idOf(store, b), 10), [
      { id: documentKey(a), url: a, title: 'Title', isExact: false },
      { id: documentKey(b), url: b, title: 'Title', isExact: false },
      { id: documentKey(d), url: d, title: 'Title', isExact: true },
    ])
    assert.deepEqual(store.groupOf(idOf(store, c), 10), [])
    const { exact_copies, near_copies, groups: number } = store.stats()
    assert.deepEqual([exact_copies, near_copies, number], [1, 1, 1])
    assert.deepEqual(checkStore(store.db), [])
  })
})

describe('the figures of a store', () => {
  it('are all nothing for an empty one', () => {
    const { database_bytes, ...stats } = open().stats()
    assert.ok(database_bytes > 0)
    assert.deepEqual(stats, {
      documents: 0,
      hosts: 0,
      urls: 0,
      queued: 0,
      exact_copies: 0,
      near_copies: 0,
      groups: 0,
      languages: [],
      newest: null,
      distinct: { urls: 0, hosts: 0, contents: 0 },
      generation: 0,
    })
  })
  it('count documents by language, hosts and URLs, and follow each change', () => {
    const store = open()
    put(store, a)
    put(store, b, { lang: 'zh' })
    put(store, `${b}/2`, { lang: 'zh' })
    const { documents, hosts, urls, languages, newest, generation } = store.stats()
    assert.deepEqual([documents, hosts, urls, generation], [3, 2, 3, 3])
    assert.deepEqual(languages, [
      { value: 'zh', count: 2 },
      { value: 'en', count: 1 },
    ])
    assert.equal(newest, '1970-01-01T00:00:01.000Z')
    remove(store, a)
    assert.deepEqual([store.stats().documents, store.stats().generation], [2, 4])
  })
})

describe('a reader', () => {
  it('sees what is committed, and cannot write', () => {
    const file = newFile()
    const store = open(file)
    put(store, a)
    const reader = openReader(file)
    opened.push(reader)
    assert.deepEqual(reader.documentRecord(documentKey(a)), store.documentRecord(documentKey(a)))
    assert.equal(reader.stats().documents, 1)
    put(store, b)
    assert.equal(reader.stats().documents, 2)
    assert.equal(reader.exportAfter(0, 10).records.length, 2)
    assert.equal(reader.meta('generation'), '2')
    assert.throws(() => reader.db.exec('DELETE FROM doc'), /readonly/)
  })
})

describe('what the store keeps beside documents', () => {
  it('has a seed of 32 bits, the same after it is opened again and another for each store', () => {
    const file = newFile()
    const store = open(file)
    const { fingerprintSeed } = store
    assert.ok(
      Number.isInteger(fingerprintSeed) && fingerprintSeed >= 0 && fingerprintSeed < 2 ** 32,
    )
    store.close()
    assert.equal(open(file).fingerprintSeed, fingerprintSeed)
    assert.notEqual(new Set([1, 2, 3].map(() => open().fingerprintSeed)).size, 1)
  })
  it('has one source for one scope', () => {
    const store = open()
    const ids = ['x', 'y', 'x'].map((key) => store.transaction(() => store.sourceFor(key)))
    assert.deepEqual(ids, [1, 2, 1])
    assert.deepEqual(store.sources(), [
      { id: 1, spec: 'x', createdAtMs: 1_000 },
      { id: 2, spec: 'y', createdAtMs: 1_000 },
    ])
  })
  it('keeps jobs with wish and counts as they were last written', () => {
    const store = open()
    const spec: CrawlSpec = {
      seeds: [a],
      scope: 'host',
      include: [],
      maxPages: 5,
      depth: 9,
      delayMs: null,
    }
    const counts: JobCounts = {
      fetched: 3,
      stored: 2,
      unchanged: 0,
      exactCopies: 0,
      nearCopies: 0,
      redirects: 0,
      gone: 0,
      refused: { robots: 1 },
      failed: {},
      bytes: 9,
      javascriptOnly: 0,
      rules: {},
    }
    const job = {
      spec,
      sourceIds: [1],
      state: 'running',
      note: '',
      counts,
      startedAtMs: 5.5,
      endedAtMs: null,
      activeMs: 0,
    } as const
    store.transaction(() => store.sourceFor('x'))
    const id = store.transaction(() => store.putJob('key', job))
    assert.deepEqual(store.job(id), { ...job, id, startedAtMs: 6 })
    const changed = {
      ...job,
      id,
      spec: { ...spec, maxPages: null },
      state: 'done',
      note: 'n',
      startedAtMs: 6,
      endedAtMs: 7,
      activeMs: 8,
    } as const
    store.transaction(() => store.updateJob(changed))
    assert.deepEqual(store.jobs(), [changed])
    assert.equal(store.job(id + 1), null)
    assert.deepEqual(checkStore(store.db), [])
  })
  it('keeps robots.txt by origin', () => {
    const store = open()
    assert.equal(store.robotsOf('http://a.test'), null)
    for (const text of [Buffer.from('User-agent: *'), null]) {
      const robots = { status: 200, text, untilMs: 7 }
      store.transaction(() => store.putRobots('http://a.test', robots, 5))
      const found = store.robotsOf('http://a.test')
      // SQLite answers bytes; which kind of array holds them is the runtime's affair.
      const bytes = found?.text ? Buffer.from(found.text) : null
      assert.deepEqual({ ...found, text: bytes }, robots)
    }
    assert.equal(store.robotsOf('http://a.test:81'), null)
  })
  it('keeps the place in the queue of a URL that is imported before its visit', () => {
    const store = open()
    store.db
      .exec(`INSERT INTO host(origin) VALUES('http://a.test'); INSERT INTO source(spec, created_at) VALUES('x', 0);
      INSERT INTO url(host, path, source, epoch) VALUES(1, '/', 1, 1)`)
    put(store, a)
    const row = store.urlRow(a)
    assert.deepEqual([row?.state, row?.outcome, row?.sourceId], ['queued', 'imported', 1])
    assert.deepEqual(checkStore(store.db), [])
  })
  it('lists all URLs, a part at a time', () => {
    const store = open()
    for (const url of [a, b, c]) put(store, url)
    assert.deepEqual(store.urlsAfter(1, 9), [
      { id: 2, url: b },
      { id: 3, url: c },
    ])
  })
})
