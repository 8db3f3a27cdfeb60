/** Main content of Chinese pages: documentation in both scripts, its contents, chapters and reference pages, labelled by hand (test/data/extraction-zh.json). */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { extractContent } from '../../../src/crawl/extract.ts'
import { parsePageTree } from '../../../src/crawl/page-tree.ts'
import { digestOf, type Label, linesOf, scoreText } from '../../labelled-pages.ts'

const f1Min = 0.96
/** Another version of a package changes its pages; so many must be those that were labelled. */
const pagesMin = 40

const { pages } = JSON.parse(readFileSync('test/data/extraction-zh.json', 'utf8')) as {
  pages: Record<string, Label>
}
/** Where `npm run bench` keeps the sites that it crawls. */
const folder = process.env['SITES_DIR'] ?? join(tmpdir(), 'findling-sites')
const isMissing = !existsSync(join(folder, Object.keys(pages)[0] ?? ''))
const skip =
  isMissing && process.env['SITES_DIR'] === undefined
    ? 'the sites are missing (SITES_DIR, or `npm run bench -- crawl`)'
    : false

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

describe('the labels of Chinese pages', () => {
  it('are of forty pages at least, each with ranges of its lines in order', () => {
    assert.ok(Object.keys(pages).length >= pagesMin)
    for (const [path, { lines, not, either }] of Object.entries(pages)) {
      const ranges = [...not, ...either].toSorted((a, b) => a[0] - b[0])
      let next = 0
      for (const [first, last] of ranges) {
        assert.ok(first >= next && last >= first && last < lines, `${path}: ${first}-${last}`)
        next = last + 1
      }
    }
  })

  it('score a whole page, its main content and nothing as they must', () => {
    const lines = [
      '首页 新闻 体育 天气',
      '标题在这里',
      '正文第一段写了很多内容',
      '版权所有不得转载',
    ]
    const label: Label = {
      lines: 4,
      digest: '',
      not: [
        [0, 0],
        [3, 3],
      ],
      either: [[1, 1]],
    }
    assert.deepEqual(scoreText(lines, label, lines[2] ?? ''), { precision: 1, recall: 1 })
    assert.deepEqual(scoreText(lines, label, lines.slice(1, 3).join('\n')), {
      precision: 1,
      recall: 1,
    })
    const whole = scoreText(lines, label, lines.join('\n'))
    assert.ok(whole.recall === 1 && whole.precision < 0.6, `${whole.precision}`)
    assert.equal(scoreText(lines, label, '').recall, 0)
  })
})

describe('the main content of labelled Chinese pages', { skip }, () => {
  it(`is found with an F1 of ${f1Min} at least`, (t) => {
    const scores: { path: string; precision: number; recall: number }[] = []
    for (const [path, label] of Object.entries(pages)) {
      const file = join(folder, path)
      if (!existsSync(file)) continue
      const html = readFileSync(file, 'utf8')
      const lines = linesOf(html)
      if (digestOf(lines) !== label.digest) continue
      const { text } = extractContent(parsePageTree(html), `http://h.example${path}`)
      scores.push({ path, ...scoreText(lines, label, text) })
    }
    assert.ok(scores.length >= pagesMin, `${scores.length} pages are those that were labelled`)
    const [precision, recall] = [
      mean(scores.map((one) => one.precision)),
      mean(scores.map((one) => one.recall)),
    ]
    const f1 = (2 * precision * recall) / (precision + recall)
    const shown = `F1 ${f1.toFixed(4)}, precision ${precision.toFixed(4)}, recall ${recall.toFixed(4)} of ${scores.length}`
    t.diagnostic(shown)
    assert.ok(f1 >= f1Min, shown)
  })
})
