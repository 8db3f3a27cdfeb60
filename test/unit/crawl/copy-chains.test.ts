/** What led to a page: copies that lead to copies are told, the rest is not. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ParsedPage } from '../../../src/crawl/page.ts'
import { chainShape, CopyChains, sayingOf } from '../../../src/crawl/copy-chains.ts'

const url = (n: number): string => `http://a.test/${n}`

describe('copies that lead to copies', () => {
  it('are told from the fourth copy of a host on', () => {
    const chains = new CopyChains()
    const led: (string | null)[] = []
    for (let n = 0; n < 6; n++) led.push(chains.note(1, url(n), 'same', [url(n + 1)]))
    assert.deepEqual(led, [null, null, null, null, 'same', 'same'])
  })
  it('are told of what they led to, once, whatever that says', () => {
    const chains = new CopyChains()
    for (let n = 0; n < 4; n++) chains.note(1, url(n), 'same', [url(9)])
    assert.equal(chains.note(1, url(9), 'other', []), 'same')
    assert.equal(chains.note(1, url(9), 'other', []), null)
  })
  it('are told by text and title, an address in place of a title aside', () => {
    const page = (title: string, byte = 1) =>
      sayingOf(url(1), { title, fingerprint: { digest: Uint8Array.of(byte) } } as ParsedPage)
    assert.equal(page('a'), page('a'))
    assert.notEqual(page('a'), page('b'))
    assert.notEqual(page('a'), page('a', 2))
    assert.equal(page(url(1)), page(''))
  })
  it('are counted by host', () => {
    const chains = new CopyChains()
    for (let n = 0; n < 8; n++) chains.note(n, url(n), 'same', [url(n + 1)])
    assert.equal(chains.note(8, url(8), 'same', []), null)
  })
  it('are forgotten when told so, and have a shape of their own', () => {
    const chains = new CopyChains()
    for (let n = 0; n < 4; n++) chains.note(1, url(n), 'same', [url(9)])
    chains.forget()
    assert.equal(chains.note(1, url(9), 'same', []), null)
    assert.notEqual(chainShape('one'), chainShape('two'))
  })
})
