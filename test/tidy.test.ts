/** Checks the shape of the source itself: layers, doors to packages, sizes, what must not stand in it. Each check is shown a bad sample, so it can fail. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '..')

/** A folder of src/ may import itself and the folders listed here. Files directly in src/ and src/cli/ wire things and may import all. */
const layers: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  text: ['lib'],
  store: ['lib'],
  crawl: ['lib', 'text', 'store'],
  search: ['lib', 'text', 'store'],
  server: ['lib', 'text', 'store', 'search'],
}

/** Every third-party package has one door: the only file of src/ that imports it. */
const doors: Readonly<Record<string, string>> = {
  'better-sqlite3': 'lib/sqlite.ts',
  'bun:sqlite': 'lib/sqlite.ts',
  undici: 'lib/egress.ts',
  koffi: 'lib/mmap.ts',
  tldts: 'lib/url.ts',
  linkedom: 'crawl/rules.ts',
  fontoxpath: 'crawl/xpath.ts',
  unpdf: 'crawl/pdf.ts',
  'smol-toml': 'lib/toml.ts',
  htmlparser2: 'crawl/html-events.ts',
  entities: 'crawl/html-events.ts',
  'tough-cookie': 'crawl/cookies.ts',
  'wink-nlp': 'text/keywords.ts',
  'wink-eng-lite-web-model': 'text/keywords.ts',
  'wink-porter2-stemmer': 'text/tokenize.ts',
  flexsearch: 'search/flex.ts',
  fastify: 'server/server.ts',
  'opencc-js': 'assets.ts',
  '@node-rs/jieba': 'assets.ts',
}

/** Connections leave through one file; the server's own listener is fastify's. */
const networkModules = /^node:(?:http|https|http2|net|tls|dns|dgram)(?:\/|$)/
const networkDoor = 'lib/egress.ts'
/** What node:net has that opens nothing. */
const netNames = new Set(['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress'])
const linesMax = 500

type Source = { file: string; text: string }
type Import = { file: string; to: string }

const importPattern =
  /^(?:import|export)\s[^'";=]*?\bfrom\s*'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'|\brequire(?:\.resolve)?\(\s*'([^']+)'/gm
const importsOf = ({ file, text }: Source): Import[] =>
  [...text.matchAll(importPattern)].map((match) => ({
    file,
    to: match.slice(1).find((each) => each !== undefined) ?? '',
  }))

const isRelative = (to: string): boolean => to.startsWith('.')
const packageOf = (to: string): string =>
  to
    .split('/')
    .slice(0, to.startsWith('@') ? 2 : 1)
    .join('/')
const folderOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '')

// Each rule takes one source file and tells what is wrong with it: no words, no fault.
type Rule = (source: Source) => string[]

const keepsLayers: Rule = (source) => {
  const folder = folderOf(source.file)
  const below = layers[folder]
  if (below === undefined) return []
  return importsOf(source)
    .filter(({ to }) => isRelative(to))
    .map(({ to }) => relative('/src', resolve('/src', dirname(source.file), to)))
    .filter((target) => folderOf(target) !== folder && !below.includes(folderOf(target)))
    .map((target) => `${source.file} imports ${target}`)
}

const keepsDoors: Rule = (source) =>
  importsOf(source)
    .filter(({ to }) => !isRelative(to) && !to.startsWith('node:'))
    .filter(({ to, file }) => doors[packageOf(to)] !== file)
    .map(({ to, file }) => `${file} imports ${to}`)

/** Types and tests of addresses may come from node:net anywhere. */
const keepsNetworkDoor: Rule = (source) => {
  if (source.file === networkDoor) return []
  const harmless =
    [...source.text.matchAll(/^import (type )?\{([^}]*)\} from 'node:net'$/gm)].filter(
      ([, isType, names = '']) =>
        isType !== undefined ||
        names.split(',').every((name) => {
          const trimmed = name.trim()
          return trimmed === '' || trimmed.startsWith('type ') || netNames.has(trimmed)
        }),
    ).length +
    source.text.split("import('node:net').Socket").length -
    1
  const network = importsOf(source).filter(({ to }) => networkModules.test(to))
  const net = network.filter(({ to }) => to === 'node:net').length
  return network
    .filter(({ to }) => to !== 'node:net' || net > harmless)
    .map(({ to, file }) => `${file} imports ${to}`)
}

const saysWhatItIsFor: Rule = ({ file, text }) => {
  const [first = '', second = ''] = text.replace(/^#!.*\n/, '').split('\n')
  // One line, or a block whose words begin in the second line.
  return /^\/\*\* \S/.test(first) || (first === '/**' && /^ \* \S/.test(second)) ? [] : [file]
}

const isShort: Rule = ({ file, text }) => {
  const lines = text.split('\n').length - 1
  return lines <= linesMax ? [] : [`${file} has ${lines} lines`]
}

/** The bundle is CommonJS: import.meta is empty there and await at the top level a syntax error. */
const suitsTheBundle: Rule = ({ file, text }) => {
  const code = withoutComments(text)
  const faults = /\bimport\.meta\b/.test(code) && file !== 'assets.ts' ? ['import.meta'] : []
  // Formatted code indents everything that is inside a function.
  if (/^(?:(?:export )?(?:const|let) [^\n]*= |[\w.]+ = )?await\b|^for await\b/m.test(code))
    faults.push('top-level await')
  return faults.map((fault) => `${file}: ${fault}`)
}

const evaluatesNothing: Rule = ({ file, text }) =>
  /(?<![.\w])eval\(|\bnew Function\(|\bnode:vm\b|\brunInThisContext\b/.test(withoutComments(text))
    ? [file]
    : []

/** Good enough for formatted code: whole-line and block comments. */
const withoutComments = (text: string): string =>
  text.replace(/^\s*\/\/.*$/gm, '').replace(/\/\*[\s\S]*?\*\//g, '')

const machinePaths = /(?<![\w.}])\/(?:home|root|work|Users)\/[\w.-]+/
const registryHosts = /registry\.(?:npmjs\.org|yarnpkg\.com)|npmmirror\.com/
const namesNoMachine: Rule = ({ file, text }) =>
  text.split('\n').flatMap((line, at) => {
    const found = machinePaths.exec(line)?.[0] ?? registryHosts.exec(line)?.[0]
    return found === undefined ? [] : [`${file}:${at + 1}: ${found}`]
  })

const sourcesIn = (folder: string): Source[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map((file) => ({ file, text: readFileSync(join(root, folder, file), 'utf8') }))
const src = sourcesIn('src')
const everywhere = ['src', 'test', 'bench'].flatMap((folder) =>
  sourcesIn(folder).map(({ file, text }) => ({ file: `${folder}/${file}`, text })),
)

/** What git keeps; null outside a checkout (a source archive). */
function trackedFiles(): Source[] | null {
  if (!existsSync(join(root, '.git'))) return null
  const list = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  return (
    list
      .split('\0')
      // This file holds the bad samples.
      .filter((file) => file !== '' && file !== 'test/tidy.test.ts')
      .filter((file) => statSync(join(root, file), { throwIfNoEntry: false })?.isFile())
      .map((file) => ({ file, text: readFileSync(join(root, file), 'latin1') }))
  )
}

const bad = (file: string, ...lines: string[]): Source => ({ file, text: `${lines.join('\n')}\n` })

/** Name, rule, where it holds, samples that it must find fault with, samples that it must let pass. */
const rules: readonly {
  name: string
  rule: Rule
  over: readonly Source[]
  bad: readonly Source[]
  good: readonly Source[]
}[] = [
  {
    name: 'imports go down the layers only',
    rule: keepsLayers,
    over: src,
    bad: [
      bad('lib/a.ts', `import { b } from '../text/b.ts'`),
      bad('crawl/a.ts', `import type { B } from '../search/b.ts'`),
      bad('server/a.ts', `export { b } from '../crawl/b.ts'`),
      bad('store/a.ts', 'import {', '  b,', `} from '../config.ts'`),
      bad('text/a.ts', `const b = () => import('../engine.ts')`),
    ],
    good: [
      bad('crawl/a.ts', `import { b } from '../lib/b.ts'`, `import { c } from './c.ts'`),
      bad('engine.ts', `import { b } from './crawl/b.ts'`),
      bad('cli/a.ts', `import { b } from '../search/b.ts'`),
    ],
  },
  {
    name: 'each package is imported by its one door',
    rule: keepsDoors,
    over: src,
    bad: [
      bad('store/store.ts', `import Sqlite from 'better-sqlite3'`),
      bad('crawl/fetch.ts', `import { request } from 'undici'`),
      bad('lib/a.ts', `import leftPad from 'left-pad'`),
      bad('text/a.ts', `const path = require.resolve('@node-rs/jieba/dict.txt')`),
    ],
    good: [bad('lib/sqlite.ts', `import Sqlite from 'better-sqlite3'`)],
  },
  {
    name: 'connections leave through one door',
    rule: keepsNetworkDoor,
    over: src,
    bad: [
      bad('crawl/a.ts', `import { connect } from 'node:net'`),
      bad('crawl/a.ts', `import { isIP, connect } from 'node:net'`),
      bad('crawl/a.ts', `import net from 'node:net'`),
      bad('server/a.ts', `import { createServer } from 'node:http'`),
      bad('lib/a.ts', `import { lookup } from 'node:dns/promises'`),
    ],
    good: [
      bad('lib/egress.ts', `import { lookup } from 'node:dns'`),
      bad('server/a.ts', `import { isIP } from 'node:net'`),
      bad('server/a.ts', `import type { Socket } from 'node:net'`),
    ],
  },
  {
    name: 'every file says in its first line what it is for',
    rule: saysWhatItIsFor,
    over: everywhere,
    bad: [bad('a.ts', `import 'b'`), bad('a.ts', '/**', ' */'), bad('a.ts', '// about')],
    good: [bad('a.ts', '/** About a. */'), bad('a.ts', '/**', ' * About a.', ' */')],
  },
  {
    name: `no file has more than ${linesMax} lines`,
    rule: isShort,
    over: everywhere,
    bad: [bad('a.ts', ...Array.from({ length: linesMax + 1 }, () => '//'))],
    good: [bad('a.ts', ...Array.from({ length: linesMax }, () => '//'))],
  },
  {
    name: 'nothing but assets.ts needs a module at run time',
    rule: suitsTheBundle,
    over: src,
    bad: [
      bad('lib/a.ts', 'const here = import.meta.url'),
      bad('lib/a.ts', 'await start()'),
      bad('lib/a.ts', 'const a = await start()'),
      bad('lib/a.ts', 'export const a = await start()'),
      bad('lib/a.ts', 'for await (const a of b) c(a)'),
    ],
    good: [
      bad('assets.ts', 'const here = import.meta.url'),
      bad('lib/a.ts', '// import.meta is not here', 'async () => {', '  await start()', '}'),
    ],
  },
  {
    name: 'nothing is evaluated as code',
    rule: evaluatesNothing,
    over: src,
    bad: [
      bad('lib/a.ts', `eval('1')`),
      bad('lib/a.ts', `new Function('return 1')`),
      bad('lib/a.ts', `import vm from 'node:vm'`),
    ],
    good: [bad('lib/a.ts', 'const medieval = retrieval(1)', '// no eval() here')],
  },
]

describe('tidy', () => {
  it('found the source', () => {
    assert.ok(src.length > 10 && src.flatMap(importsOf).length > 10)
  })

  for (const { name, rule, over, bad: wrong, good } of rules) {
    it(name, () => {
      for (const sample of wrong) assert.notDeepEqual(rule(sample), [], `let pass: ${sample.text}`)
      for (const sample of good) assert.deepEqual(rule(sample), [], `found fault: ${sample.text}`)
      assert.deepEqual(over.flatMap(rule), [])
    })
  }

  it('the repository names no machine and no registry', (t) => {
    assert.equal(namesNoMachine(bad('a', 'cd /home/ada/project')).length, 1)
    assert.equal(
      namesNoMachine(bad('a', `https://${['registry', 'npmjs', 'org'].join('.')}/x`)).length,
      1,
    )
    assert.deepEqual(
      namesNoMachine(bad('a', ['https://a.example/home/x ..', 'work', 'x'].join('/'))),
      [],
    )
    const files = trackedFiles()
    if (files === null) return t.skip('not a git checkout')
    assert.deepEqual(files.flatMap(namesNoMachine), [])
  })

  it('every folder of src/ is told of in docs/ARCHITECTURE.md', () => {
    const untold = (folders: readonly string[], text: string): string[] =>
      folders.filter((folder) => !text.includes(`src/${folder}/`) && !text.includes(`${folder}/`))
    assert.deepEqual(untold(['lib', 'attic'], 'src/lib/ holds'), ['attic'])
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
    const map = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
    assert.deepEqual(untold(folders, map), [])
  })
})
