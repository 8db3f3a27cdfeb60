/** Shows the lines of a page with their numbers, to label it for test/data/extraction-zh.json: `node test/label-page.ts FILE`. */
import { readFileSync } from 'node:fs'
import { digestOf, linesOf } from './labelled-pages.ts'

const [, , file = ''] = process.argv
const lines = linesOf(readFileSync(file, 'utf8'))
for (const [i, line] of lines.entries()) console.log(`${i} ${line.slice(0, 100)}`)
console.log(JSON.stringify({ lines: lines.length, digest: digestOf(lines), not: [], either: [] }))
