/** Word lists: MB of text a second of CPU, and what 5,000 words take. Beside it one RegExp of all words, which sees through no disguise. Arguments: words, MB. */
import { textTables } from '../src/assets.ts'
import { judgeWords } from '../src/text/judge-words.ts'
import { loadTextTables } from '../src/text/tables.ts'
import { packWords } from '../src/text/word-list.ts'
import { openWords } from '../src/text/word-match.ts'
import { normalUnits } from '../src/text/word-symbols.ts'

const words = Number(process.argv[2] ?? 5_000)
const megabytes = Number(process.argv[3] ?? 20)
const pageChars = 4_000

let state = 20_261_130
const random = (): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}
/** Few characters are frequent, as in real text: rank grows as a power of ten. */
const ideograph = (): string => String.fromCharCode(0x4e00 + Math.floor(3_500 ** random() * 5.9))
const letters = 'etaoinshrdlucmfwypvbgkjqxz'
const latin = (length: number): string =>
  Array.from({ length }, () => letters.charAt(Math.floor(26 ** random()))).join('')
const repeat = (count: number, part: () => string): string =>
  Array.from({ length: count }, part).join('')

const sentence = (): string => `${repeat(6 + Math.floor(random() * 20), ideograph)}，`
const phrase = (): string => `${latin(2 + Math.floor(random() * 8))} `
const pagesOf = (part: () => string): string[] => {
  const pages: string[] = []
  let bytes = 0
  while (bytes < megabytes * 1e6) {
    let page = ''
    while (page.length < pageChars) page += part()
    pages.push(page)
    bytes += Buffer.byteLength(page)
  }
  return pages
}

const cpuMs = (work: () => void): number => {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

loadTextTables(textTables())
// A list names what is rare: characters of all ranks alike.
const rare = (): string => String.fromCharCode(0x4e00 + Math.floor(random() * 20_000))
const list = Array.from({ length: words }, (_, i) =>
  i % 5 === 0
    ? latin(5 + Math.floor(random() * 8))
    : repeat(2 + Math.floor(random() * 3), i % 2 ? rare : ideograph),
)
let units: Uint16Array = new Uint16Array()
const tableMs = cpuMs(() => {
  units = normalUnits()
})
let packed = new SharedArrayBuffer(0)
const lists = [{ name: 'bench', policy: 'mask' as const, words: [...new Set(list)], allowed: [] }]
const packMs = cpuMs(() => {
  packed = packWords(lists, units)
})
const matcher = openWords(packed)
const regExp = new RegExp(list.join('|'), 'g')

const rows: Record<string, object> = {}
for (const [name, pages] of Object.entries({
  Chinese: pagesOf(sentence),
  English: pagesOf(phrase),
})) {
  const bytes = pages.reduce((sum, page) => sum + Buffer.byteLength(page), 0)
  const speed = (work: (page: string) => void, some: readonly string[]): number => {
    for (const page of some.slice(0, 200)) work(page)
    const size = some.reduce((sum, page) => sum + Buffer.byteLength(page), 0)
    return Math.round(size / 1e3 / cpuMs(() => some.forEach(work)))
  }
  let hits = 0
  const find = speed((page) => matcher.find(page, () => (hits += 1)), pages)
  const mask = speed((page) => void judgeWords(matcher).read('text', page), pages)
  // Some hundred times slower: a part is enough.
  const byRegExp = speed((page) => void page.replace(regExp, '*'), pages.slice(0, 60))
  rows[name] = {
    'find MB/s': find,
    'judge and mask MB/s': mask,
    'RegExp MB/s': byRegExp,
    pages: pages.length,
    megabytes: Math.round(bytes / 1e6),
    hits,
  }
}
console.log(
  `${lists[0]?.words.length} words, table ${Math.round(tableMs)} ms, packed in ${Math.round(packMs)} ms to ${Math.round(packed.byteLength / 1e3)} kB`,
)
console.table(rows)
console.log(
  `RESULT ${JSON.stringify({ words, tableMs, packMs, packedBytes: packed.byteLength, ...rows })}`,
)
