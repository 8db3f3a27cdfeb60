/** The colours of app.css against WCAG 2.2 AA: text 4.5 : 1, borders of fields and the focus ring 3 : 1, light and dark. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'

const css = readFileSync('public/app.css', 'utf8')
const tokensOf = (block: string): Map<string, string> =>
  new Map(
    [...block.matchAll(/--([\w-]+):\s*(#[\da-f]{6});/g)].map(([, name = '', hex = '']) => [
      name,
      hex,
    ]),
  )

const light = tokensOf(/^:root \{[^}]*\}/m.exec(css)?.[0] ?? '')
const dark = tokensOf(/^:root\[data-theme='dark'\] \{[^}]*\}/m.exec(css)?.[0] ?? '')
const systemDark = tokensOf(/:root:not\(\[data-theme='light'\]\) \{[^}]*\}/.exec(css)?.[0] ?? '')

/** https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const contrast = (a: string, b: string): number => {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y)
  return (high + 0.05) / (low + 0.05)
}

const grounds = ['ground', 'surface', 'raised']
const pairs: [string, string, number][] = [
  ...['text', 'quiet', 'link', 'visited', 'source', 'accent'].flatMap((name) =>
    grounds.map((ground): [string, string, number] => [name, ground, 4.5]),
  ),
  ['text', 'error-ground', 4.5],
  ['on-accent', 'accent', 4.5],
  ['on-mark', 'mark', 4.5],
  ['border', 'ground', 3],
  ['border', 'raised', 3],
  ['error', 'error-ground', 3],
]

describe('The colours', () => {
  for (const [theme, tokens] of Object.entries({ light, dark })) {
    for (const [front, back, least] of pairs) {
      it(`keep ${front} on ${back} at ${least} : 1, ${theme}`, () => {
        const ratio = contrast(tokens.get(front) ?? '', tokens.get(back) ?? '')
        assert.ok(ratio >= least, `${ratio.toFixed(2)} : 1`)
      })
    }
  }
  it('are the same dark by choice and dark by the system', () => {
    assert.ok(dark.size > 10)
    assert.deepEqual(systemDark, dark)
  })
})
