/** Lines are gathered as places and written once: always what collapsing the whole text would give. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LineText } from '../../../src/crawl/line-text.ts'
import { createNameTable } from '../../../src/crawl/name-table.ts'
import { mix32 } from '../../../src/lib/hash.ts'

describe('a line of text', () => {
  it('is the whole text with its blanks collapsed, whatever the pieces', () => {
    const units = 'ab c \n\t\u00a0\u3000é中\u{1f600}\u2003\ufeff\u200b\u180e'
    const line = new LineText(units.repeat(40))
    for (let seed = 1; seed <= 5_000; seed++) {
      let state = seed
      const next = (below: number): number => (state = mix32(state + 0x9e3779b9)) % below
      line.clear()
      let expected = ''
      const pieces = next(5)
      for (let i = 0; i < pieces; i++) {
        if (next(3) === 0) {
          const codePoint = [0x20, 0x41, 0xa0, 0x4e2d, 0x1f601][next(5)] as number
          line.addCharacter(codePoint)
          expected += String.fromCodePoint(codePoint)
        } else {
          const start = next(units.length * 39)
          const end = Math.min(start + next(30), units.length * 40)
          line.add(start, end)
          expected += units.repeat(40).slice(start, end)
        }
      }
      assert.equal(line.raw(), expected, `seed ${seed}`)
      assert.equal(line.collapsed(), expected.replace(/\s+/g, ' ').trim(), `seed ${seed}`)
      assert.equal(line.isEmpty(), expected === '', `seed ${seed}`)
    }
  })

  it('takes what \\s takes for a blank, no more', () => {
    for (let unit = 0; unit <= 0xffff; unit++) {
      const html = `a${String.fromCharCode(unit)}b`
      const line = new LineText(html)
      line.add(0, 3)
      assert.equal(line.collapsed(), html.replace(/\s+/g, ' '), unit.toString(16))
    }
  })

  it('may be longer than the scratch it is written to', () => {
    const html = 'wörd  \n'.repeat(20_000)
    for (const text of [html, `${html}中`]) {
      const line = new LineText(text)
      line.add(0, text.length)
      assert.equal(line.collapsed(), text.replace(/\s+/g, ' ').trim())
    }
  })
})

describe('a table of names', () => {
  const table = createNameTable(['', 'class', 'href', 'http-equiv', 'link'])
  for (const [text, name] of [
    ['class', 'class'],
    ['HrEf', 'href'],
    ['HTTP-EQUIV', 'http-equiv'],
    ['LIN\u212A', 'link'],
    ['', undefined],
    ['classy', undefined],
    ['clas', undefined],
    ['http-equivalent', undefined],
    ['h\u00e9f', undefined],
    ['cl@ss', undefined],
  ] as const)
    it(`finds ${name ?? 'nothing'} for "${text}"`, () =>
      assert.equal(table.names[table.find(`x${text}y`, 1, 1 + text.length)], name))
})
