/** How many different URLs, hosts and texts a crawl met: what counts, what is kept, what comes back. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openDistinct } from '../../../src/crawl/distinct.ts'
import { openDuplicates } from '../../../src/crawl/duplicates.ts'
import { fingerprint } from '../../../src/text/fingerprint.ts'
import { loadTestTables } from '../../text-tables.ts'
import { idOf, open, put } from '../store/store-fixture.ts'

loadTestTables()

/** Of a count: four times the error that 68 of 100 counts stay within. */
const within = 4 * (1.04 / Math.sqrt(2 ** 14))
const textOf = (i: number): string =>
  `The ${i}th page tells of matter ${i * 7} and of nothing else.`
const pageOf = (i: number, links: readonly string[]) => ({
  links,
  fingerprint: fingerprint(textOf(i), 7),
})
const about = (value: number, expected: number): void =>
  assert.ok(Math.abs(value / expected - 1) < within, `${value}, ${expected} expected`)

describe('the count of what was met', () => {
  it('has each URL, host and text once, in scope or not, however often they come', () => {
    const store = open()
    const distinct = openDistinct(store, () => 0)
    while (!distinct.load(10));
    for (let round = 0; round < 2; round += 1)
      for (let i = 0; i < 2_000; i += 1)
        distinct.note(
          `http://a.test/${i}`,
          pageOf(
            Math.floor(i / 2),
            [0, 1, 2].map((n) => `https://h${i}.test/link/${n}`).concat('http://a.test/0'),
          ),
        )
    distinct.close()
    const { urls, hosts, contents } = store.stats().distinct
    about(urls, 8_000)
    about(hosts, 2_001)
    about(contents, 1_000)
  })
  it('is no text where a page has none', () => {
    const store = open()
    const distinct = openDistinct(store)
    while (!distinct.load(10));
    distinct.note('http://a.test/', { links: [], fingerprint: fingerprint('', 7) })
    distinct.close()
    assert.deepEqual(store.stats().distinct, { urls: 1, hosts: 1, contents: 0 })
  })
  it('is written once a minute, in the transaction of the batch, and goes on after a start', () => {
    const store = open()
    let nowMs = 0
    const begin = () => openDistinct(store, () => nowMs)
    const first = begin()
    while (!first.load(10));
    const noteAndSave = (i: number): void => {
      first.note(`http://a.test/${i}`, pageOf(i, []))
      put(store, `http://a.test/${i}`)
      store.transaction(() => first.save())
    }
    noteAndSave(1)
    assert.equal(store.stats().distinct.urls, 0)
    nowMs = 60_000
    noteAndSave(2)
    assert.deepEqual(store.stats().distinct, { urls: 2, hosts: 1, contents: 2 })
    const second = begin()
    assert.equal(second.load(10), true)
    second.note('http://b.test/', pageOf(3, []))
    second.close()
    put(store, 'http://b.test/')
    assert.deepEqual(store.stats().distinct, { urls: 3, hosts: 2, contents: 3 })
  })
  it('is made anew from what is stored where there is none, in slices, and where it is damaged', () => {
    const store = open()
    const duplicates = openDuplicates(store.db)
    for (let i = 0; i < 30; i += 1) {
      const url = `http://h${i % 3}.test/${i}`
      put(store, url)
      const hostId = store.hostId(new URL(url).origin)
      const print = fingerprint(i === 29 ? '' : textOf(i % 10), 7)
      store.transaction(() =>
        duplicates.place({ urlId: idOf(store, url), hostId, fingerprint: print }),
      )
    }
    const counted = () => {
      const distinct = openDistinct(store)
      let slices = 0
      while (!distinct.load(7)) slices += 1
      // Counted only when something has changed.
      put(store, `http://h0.test/${slices}`, { text: `${Math.random()}` })
      return slices
    }
    assert.equal(counted(), 5)
    // One place in 2 ^ 14 may be that of two: with other keys at every run, three runs in a hundred count one less.
    const { urls, hosts, contents } = store.stats().distinct
    assert.ok(urls > 26 && urls <= 30, String(urls))
    assert.ok(contents > 8 && contents <= 10, String(contents))
    assert.equal(hosts, 3)
    assert.equal(counted(), 0)
    store.transaction(() => store.putDistinctRegisters('hosts', new Uint8Array(3)))
    put(store, 'http://h0.test/1', { text: 'other' })
    assert.equal(store.stats().distinct.hosts, 0)
    assert.ok(counted() > 0)
    assert.equal(store.stats().distinct.hosts, 3)
  })
  it('does not count half of what is stored', () => {
    const store = open()
    for (let i = 0; i < 30; i += 1) put(store, `http://a.test/${i}`)
    const distinct = openDistinct(store)
    assert.equal(distinct.load(10), false)
    distinct.note('http://b.test/', pageOf(1, []))
    distinct.close()
    assert.equal(store.distinctRegisters('urls'), null)
  })
})
