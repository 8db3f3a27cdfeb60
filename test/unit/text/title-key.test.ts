/** The key under which a page is found by its whole title. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TITLE_PREFIX, titleKeyOf, titleKeys } from '../../../src/text/title-key.ts'
import { loadTestTables } from '../../text-tables.ts'

loadTestTables()

describe('the key of a title', () => {
  const found: [title: string, query: string][] = [
    ['Peer Authentication', 'peer authentication'],
    ['21.9. Peer Authentication', 'Peer Authentication'],
    ['21.9. Peer Authentication', '21.9 peer authentication'],
    ['Chapter 3. Tables', 'tables'],
    ['Appendix B. Date/Time Support', 'Date/Time support'],
    ['A.1. The ATM Model', 'the atm model'],
    ['What Is SQLite?', 'what is sqlite'],
    ['第 3 章 安装', '安装'],
    ['第3章安装', '安装'],
    ['4.2 熱插拔： hotplug', '热插拔:hotplug'],
    ['附录 B. 预置', '预置'],
    ['Café — Ünicode', 'cafe unicode'],
  ]
  for (const [title, query] of found) {
    it(`lets "${query}" find "${title}"`, () => {
      const key = titleKeyOf(query)
      assert.ok(
        key !== null && titleKeys(title).includes(key),
        `${key} of ${titleKeys(title).join()}`,
      )
    })
  }

  const apart: [title: string, query: string][] = [
    ['Peer Authentication', 'authentication'],
    ['Peer Authentication', 'peer authentication methods'],
    ['Types of joins', 'joins'],
    ['3D printing', 'printing'],
  ]
  for (const [title, query] of apart) {
    it(`does not let "${query}" pass for "${title}"`, () => {
      assert.ok(!titleKeys(title).includes(titleKeyOf(query) ?? ''))
    })
  }

  it('is none for a text without letters and digits', () => {
    assert.equal(titleKeyOf('?! …'), null)
    assert.deepEqual(titleKeys(' — '), [])
  })

  it('is bounded, packable and in a space of its own', () => {
    for (const key of titleKeys(`12. ${'很长的标题'.repeat(100)}`)) {
      assert.ok(key.length <= 64 && key.startsWith(TITLE_PREFIX) && !key.includes('\n'))
    }
  })
})
