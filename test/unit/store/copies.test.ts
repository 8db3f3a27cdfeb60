/** Groups of copies as they are listed: originals, nearness, reasons, pages of a list. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openDuplicates } from '../../../src/crawl/duplicates.ts'
import { fingerprint } from '../../../src/text/fingerprint.ts'
import { loadTestTables } from '../../text-tables.ts'
import { idOf, open, put } from './store-fixture.ts'

loadTestTables()

const article = (topic: string): string =>
  Array.from(
    { length: 40 },
    (_, i) => `The ${topic} number ${topic.length + i} tells part ${i} of its story.`,
  ).join(' ')

function filled() {
  const store = open()
  const duplicates = openDuplicates(store.db)
  let atMs = 0
  /** Each a day and more after the one before. */
  const add = (url: string, text: string, canonical?: string): void => {
    atMs += 100_000_000
    put(store, url, {
      text,
      title: url,
      extra: {
        description: '',
        author: '',
        headings: '',
        keywords: [],
        fields: {},
        ...(canonical === undefined ? {} : { canonical }),
      },
    })
    store.transaction(() =>
      duplicates.place({
        urlId: idOf(store, url),
        hostId: store.hostId(new URL(url).origin),
        fingerprint: fingerprint(text, 7),
        atMs,
      }),
    )
  }
  add('http://a.test/long/original', article('river'))
  add('http://b.test/copy', article('river'), 'http://a.test/long/original')
  add('http://a.test/c', `${article('river')} And one more sentence at the very end of it.`)
  add('http://a.test/alone', article('mountain'))
  for (const n of [1, 2, 3]) {
    add(`http://g${n}.test/x`, article(`thing${'y'.repeat(n)} of ${n} and ${n}${n} more`))
    add(`http://g${n}.test/x/y`, article(`thing${'y'.repeat(n)} of ${n} and ${n}${n} more`))
  }
  return store
}

describe('the list of copies', () => {
  const store = filled()
  it('has each group once, the original first, with what speaks for it', () => {
    const { groups, cursor } = store.copyGroupsAfter(null, 100)
    assert.equal(cursor, null)
    assert.deepEqual(
      groups.map(({ pages }) => pages),
      [3, 2, 2, 2],
    )
    assert.deepEqual(
      groups[0]?.members.map(({ url, kind, reasons }) => [url, kind, reasons]),
      [
        ['http://a.test/long/original', 'original', []],
        ['http://b.test/copy', 'exact', ['canonical', 'earlier']],
        ['http://a.test/c', 'near', ['earlier']],
      ],
    )
    const near = groups[0]?.members[2]
    assert.ok(near && near.similarity > 0.8 && near.similarity < 1)
    assert.deepEqual(groups[1]?.members[1]?.reasons, ['earlier', 'shorter'])
  })
  it('goes on where the page before ended', () => {
    const whole = store.copyGroupsAfter(null, 100).groups.map(({ group }) => group)
    const paged: string[] = []
    for (let cursor: number | null = null, turns = 0; turns < 10; turns += 1) {
      const page = store.copyGroupsAfter(cursor, 1)
      paged.push(...page.groups.map(({ group }) => group))
      cursor = page.cursor
      if (cursor === null) break
    }
    assert.deepEqual(paged, whole)
  })
  it('names groups as the export does, equal exactly for the pages of one', () => {
    const { records } = store.exportAfter(0, 100)
    for (const { group, members } of store.copyGroupsAfter(null, 100).groups)
      assert.deepEqual(
        records
          .filter((record) => record.group === group)
          .map(({ url }) => url)
          .toSorted(),
        members.map(({ url }) => url).toSorted(),
      )
    const alone = records.find(({ url }) => url === 'http://a.test/alone')?.group
    assert.equal(records.filter(({ group }) => group === alone).length, 1)
    assert.ok(records.every(({ group }) => group !== null))
  })
  it('is counted by kind and host', () => {
    const { exact, near, groups, hosts } = store.copyCounts(2)
    assert.deepEqual([exact, near, groups, hosts.length], [4, 1, 4, 2])
    assert.deepEqual(hosts[0], { host: 'http://a.test', exact: 0, near: 1 })
  })
  it('says of a copy alone what it is a copy of', () => {
    assert.equal(store.originOf(idOf(store, 'http://a.test/alone')), null)
    assert.equal(store.originOf(idOf(store, 'http://a.test/long/original')), null)
    const origin = store.originOf(idOf(store, 'http://a.test/c'))
    assert.equal(origin?.original, 'http://a.test/long/original')
  })
})

describe('the list of copies among many pages without any', () => {
  const cpuMs = (work: () => void): number => {
    const start = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1_000
  }
  it('passes over them', () => {
    const store = filled()
    store.db.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM n WHERE i < 101000)
       INSERT INTO fingerprint(url_id, host, digest, sim, anchors, sketch, tokens, figures, numbers, grp, role)
       SELECT i, 1, randomblob(16), zeroblob(8), zeroblob(32), zeroblob(144), 100, 0, 0, i, 0 FROM n`,
    )
    const scan = store.db.prepare(
      'SELECT count(*) FROM (SELECT 1 FROM fingerprint GROUP BY grp HAVING count(*) > 1)',
    )
    scan.value()
    const scannedMs = cpuMs(() => scan.value())
    const { groups, cursor } = store.copyGroupsAfter(null, 20)
    assert.deepEqual([groups.length, cursor], [4, null])
    const { exact, near, groups: all } = store.copyCounts(10)
    assert.deepEqual([exact, near, all], [4, 1, 4])
    const listedMs = cpuMs(() => {
      for (let i = 0; i < 10; i += 1) {
        store.copyGroupsAfter(null, 20)
        store.copyCounts(10)
      }
    })
    assert.ok(listedMs / 10 < scannedMs / 3, `${listedMs / 10} ms a list, ${scannedMs} ms a scan`)
  })
})
