/** Builds dist/findling-linux-x64 and dist/findling-linux-arm64: `node build.ts [--arch x64|arm64]`. The same inputs give the same bytes. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { build as esbuild, type Plugin } from 'esbuild'
import { makeDictionary } from './src/assets.ts'
import { sqliteVersion } from './src/lib/sqlite.ts'
import type { AddonName } from './src/native.ts'
import { billOfMaterials, componentsOf, licensesText } from './src/third-party.ts'

const root = import.meta.dirname
const work = join(root, 'node_modules', '.cache', 'findling', 'build')
const architectures = ['x64', 'arm64'] as const
type Architecture = (typeof architectures)[number]

/** Below these lie known corruptions: of memory (brotli, and the Node that carries it), of the database (SQLite's log). */
const floors = { node: '24.22.3', brotli: '1.2.1', sqlite: '3.51.3' } as const
const sizeMaxBytes = 130e6

const nodePackageOf = (arch: Architecture): string => `node-linux-${arch}`
/** npm installs the packages of this machine only; the other machine's come from a small project of their own. */
const packagesOf = (arch: Architecture): string =>
  arch === process.arch ? join(root, 'node_modules') : join(root, 'vendor', arch, 'node_modules')
const nodeOf = (arch: Architecture): string =>
  join(packagesOf(arch), nodePackageOf(arch), 'bin', 'node')
const addonsOf = (arch: Architecture): Record<AddonName, string> => ({
  'better_sqlite3.node': join(root, 'node_modules/better-sqlite3/prebuilds', `linux-${arch}.node`),
  'koffi.node': join(
    packagesOf(arch),
    `@koromix/koffi-linux-${arch}`,
    `linux_${arch}`,
    'koffi.node',
  ),
})
const outputOf = (arch: Architecture): string => join(root, 'dist', `findling-linux-${arch}`)

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { arch: { type: 'string', multiple: true } } })
  const wanted = architectures.filter((arch) => values.arch?.includes(arch) ?? true)
  assert(wanted.length > 0, `--arch is one of ${architectures.join(', ')}`)
  requireFloors()
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  for (const role of roleNames)
    await bundle(`${role}.cjs`, 'src/main.ts', [packaged, onlyRole(role)])
  await bundle('undici.cjs', 'undici', [])
  writeFileSync(join(work, 'thread.cjs'), startOfThread)
  writeDictionary()
  writeLicenses()
  for (const arch of wanted) {
    installFor(arch)
    requireSameVersions(arch)
    await pack(arch)
  }
  for (const arch of wanted) reportSize(outputOf(arch))
}

/** Its size, then zstd: who inflates it makes room for it at once. */
function writeDictionary(): void {
  const dictionary = makeDictionary()
  const size = Buffer.alloc(4)
  size.writeUInt32LE(dictionary.byteLength)
  writeFileSync(join(work, 'dictionary.zst'), Buffer.concat([size, compressed(dictionary, 19)]))
}

/** Of what runs this script; the other architecture must be of the same versions. */
function requireFloors(): void {
  const { node, brotli = '0' } = process.versions
  const found = { node, brotli, sqlite: sqliteVersion() }
  for (const name of ['node', 'brotli', 'sqlite'] as const) {
    const [has, least] = [found[name], floors[name]]
    const order = has.localeCompare(least, 'en', { numeric: true })
    assert(order >= 0, `${name} ${has} is older than ${least}, which mends a corruption`)
  }
}

/** A foreign executable cannot be asked, but its versions stand in it as text. */
function requireSameVersions(arch: Architecture): void {
  const node = readFileSync(nodeOf(arch))
  const { version, versions } = process
  assert(node.includes(`${version}\0`), `${nodeOf(arch)} is not Node ${version}`)
  assert(node.includes(`${versions.brotli}\0`), `${nodeOf(arch)} has another brotli`)
  const sqlite = readFileSync(addonsOf(arch)['better_sqlite3.node'])
  assert(sqlite.includes(`${sqliteVersion()}\0`), `better-sqlite3 for ${arch} has another SQLite`)
}

/**
 * A bundle for each role of main.ts, with nothing in it that belongs to another: each thread holds the text of its bundle, and most
 * of it is the model of wink-nlp, which only the parser needs. The same on all architectures.
 */
const roles = {
  main: './cli/run.ts',
  engine: './engine.ts',
  search: './searcher.ts',
  parser: './parser.ts',
} as const
type Role = keyof typeof roles
const roleNames = Object.keys(roles) as Role[]

/** `name` among the assets, from this entry point. */
async function bundle(name: string, entry: string, plugins: Plugin[]): Promise<void> {
  const outfile = join(work, name)
  const { warnings } = await esbuild({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    minify: true,
    charset: 'ascii',
    legalComments: 'external',
    define: { FINDLING_BUILD: JSON.stringify(buildFacts()) },
    plugins,
    logLevel: 'warning',
  })
  assert.deepEqual(warnings, [])
  const text = inAscii(readFileSync(outfile, 'utf8'))
  // Not the root alone: that may be as short as /findling, as in the image's build, and part of a path that is meant.
  const folders = ['src', 'node_modules', 'public', 'vendor'].map((folder) => `${root}/${folder}/`)
  for (const path of [...folders, `"${root}"`])
    assert(!text.includes(path), `the bundle names ${path}, a path of this machine`)
  writeFileSync(outfile, text)
}

/**
 * Text of ASCII alone takes half the memory in V8: 6 MB less for a parser. esbuild leaves regular expressions and tagged templates as they
 * are; there an escape means the same, as long as nobody asks a template for its raw text.
 */
const inAscii = (text: string): string =>
  text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const onlyRole = (role: Role): Plugin => ({
  name: 'only-role',
  setup(hooks) {
    hooks.onResolve({ filter: /./ }, ({ path, importer, kind }) =>
      importer.endsWith('/src/main.ts') && kind === 'dynamic-import' && path !== roles[role]
        ? { path, namespace: 'foreign' }
        : undefined,
    )
    hooks.onLoad({ filter: /./, namespace: 'foreign' }, ({ path }) => ({
      contents: `throw new Error('${path} is in another bundle')`,
    }))
  },
})

/** Loaded only where a schema is given, or for its tests: ours does neither. */
const unusedOfFastify = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
]

/** What exists as files in development comes from the executable. */
const packaged: Plugin = {
  name: 'packaged',
  setup(hooks) {
    const addon = (name: AddonName): string => `require('./src/native.ts').loadAddon('${name}')`
    const library = './node_modules/better-sqlite3/lib'
    const modules: Record<string, string> = {
      // As its own entry points are, but for where the addon lies.
      'better-sqlite3': `module.exports = require('${library}/database.js')(() => ${addon('better_sqlite3.node')}, false)
        module.exports.SqliteError = require('${library}/sqlite-error.js')`,
      // Its entry point only looks for the addon, and adds warnings to functions that we do not use.
      koffi: `module.exports = ${addon('koffi.node')}`,
      undici: `const { getAsset } = require('node:sea')
        const run = require('node:vm').compileFunction(getAsset('undici.cjs', 'utf8'), ['module', 'exports', 'require'], { filename: 'undici.cjs' })
        run(module, exports, require)`,
      ...Object.fromEntries(unusedOfFastify.map((name) => [name, ''])),
    }
    const names = new Set(Object.keys(modules))
    hooks.onResolve({ filter: /^\.{1,2}\/assets\.ts$/ }, () => ({
      path: join(root, 'src/assets-sea.ts'),
    }))
    hooks.onResolve({ filter: /^[@\w]/ }, ({ path, kind }) =>
      names.has(path) && kind !== 'entry-point' ? { path, namespace: 'packaged' } : undefined,
    )
    hooks.onLoad({ filter: /./, namespace: 'packaged' }, ({ path }) => ({
      contents: modules[path] ?? '',
      resolveDir: root,
    }))
  },
}

function buildFacts(): { version: string; commit: string; undici: string } {
  const versionIn = (folder: string): string => {
    const text = readFileSync(join(root, folder, 'package.json'), 'utf8')
    return (JSON.parse(text) as { version: string }).version
  }
  return { version: versionIn('.'), commit: commit(), undici: versionIn('node_modules/undici') }
}

/** FINDLING_COMMIT tells it where there is no repository, as in an image's build. */
function commit(): string {
  const given = process.env['FINDLING_COMMIT']
  if (given !== undefined && given !== '') return given
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const inputs = ['src', 'public', 'build.ts', 'package.json', 'package-lock.json']
    const isChanged = git('status', '--porcelain', '--', ...inputs).trim() !== ''
    return `${git('rev-parse', 'HEAD').trim()}${isChanged ? '+changes' : ''}`
  } catch {
    // A source archive has no history.
    return 'unknown'
  }
}

/** The registry's integrity hashes stand in the lockfile; nothing of these packages is run. */
function installFor(arch: Architecture): void {
  if (arch === process.arch) return
  const folder = join(root, 'vendor', arch)
  assert(existsSync(folder), `on ${process.arch} there is no vendor/${arch} to build from`)
  const marker = join(folder, 'node_modules', '.package-lock.json')
  const lock = join(folder, 'package-lock.json')
  if (existsSync(marker) && statSync(marker).mtimeMs > statSync(lock).mtimeMs) return
  // --force: npm lets --cpu choose among optional packages only and refuses these, which are for another machine.
  const options = [`--cpu=${arch}`, '--os=linux', '--libc=glibc', '--ignore-scripts', '--force']
  execFileSync('npm', ['ci', ...options, '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** Inside of the executable, and beside it together with the bill of materials. */
function writeLicenses(): void {
  const components = componentsOf(root, sqliteVersion())
  const silent = components.filter(({ text, license }) => text === '' || license === 'NOASSERTION')
  assert.deepEqual(silent, [], 'each package says under which licence it is')
  const text = licensesText(components)
  mkdirSync(join(root, 'dist'), { recursive: true })
  writeFileSync(join(work, 'licenses.zst'), compressed(Buffer.from(text), 19))
  writeFileSync(join(root, 'dist', 'THIRD-PARTY-LICENSES'), text)
  const bill = billOfMaterials(components, buildFacts().version)
  writeFileSync(join(root, 'dist', 'findling.cdx.json'), bill)
}

type Sea = (
  entry: string,
  options: {
    signature: boolean
    seaConfig: Record<string, unknown>
    targets: { nodeRange: string; platform: string; arch: string; output: string }[]
  },
) => Promise<void>

/** pkg's simple single executable: a blob of bundle and assets, put into Node by postject. */
async function pack(arch: Architecture): Promise<void> {
  const output = outputOf(arch)
  mkdirSync(join(root, 'dist'), { recursive: true })
  rmSync(output, { force: true })
  primeCache(arch)
  // pkg looks for its cache in HOME, and works in a folder of its own below TMPDIR.
  const { HOME, TMPDIR } = process.env
  Object.assign(process.env, { HOME: work, TMPDIR: work })
  try {
    const sea = createRequire(import.meta.url)('@yao-pkg/pkg/lib-es5/sea.js') as { default: Sea }
    await sea.default(join(work, 'main.cjs'), {
      signature: false,
      seaConfig: {
        // Relative to pkg's folder, so that the executable names no path of this machine.
        main: '../main.cjs',
        useCodeCache: false,
        useSnapshot: false,
        execArgvExtension: 'none',
        assets: assetsOf(arch),
      },
      targets: [{ nodeRange: `node${process.versions.node}`, platform: 'linux', arch, output }],
    })
  } finally {
    for (const [name, value] of Object.entries({ HOME, TMPDIR }))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  }
  chmodSync(output, 0o755)
}

/**
 * What a thread starts with: it takes the bundle of its role out of the executable itself. Handed over as text the bundle would lie in the
 * heap of whoever starts the thread as well, and in the message between them: 6 MB each for a parser.
 */
const startOfThread = `
const { role } = require('node:worker_threads').workerData
const source = require('node:sea').getAsset(role + '.cjs', 'utf8')
require('node:vm').runInThisContext(source, { filename: role + '.cjs' })
`

/** Name -> file. Names are all that the executable keeps of it. */
function assetsOf(arch: Architecture): Record<string, string> {
  const names = readdirSync(join(root, 'public')).toSorted()
  const threads = roleNames.filter((role) => role !== 'main')
  const bundles = ['thread', ...threads, 'undici'].map((name) => `${name}.cjs`)
  return {
    ...Object.fromEntries(bundles.map((name) => [name, join(work, name)])),
    'dictionary.zst': join(work, 'dictionary.zst'),
    'licenses.zst': join(work, 'licenses.zst'),
    ...addonsOf(arch),
    ...Object.fromEntries(names.map((name) => [`public/${name}`, join(root, 'public', name)])),
  }
}

/** With these files in place pkg neither downloads nor unpacks: its base is the Node of our lockfile. */
function primeCache(arch: Architecture): void {
  const name = `node-${process.version}-linux-${arch}`
  const folder = join(work, '.pkg-cache', 'sea')
  const bin = join(folder, name, 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'node'), withoutSymbols(readFileSync(nodeOf(arch))), { mode: 0o755 })
  for (const file of [`${name}.tar.gz`, `${name}.tar.gz.ok`, `${name}/bin/node.ok`])
    writeFileSync(join(folder, file), '')
}

/**
 * An ELF file (64 bit, little endian) without the sections that are not loaded: symbols and debug information, 18 MB of Node.
 * What `strip` does, but alike for every architecture and on every machine. Not loaded sections come last in what linkers
 * write: the rest keeps its place and number.
 */
function withoutSymbols(elf: Buffer): Buffer {
  assert.equal(elf.readUInt32BE(0), 0x7f454c46)
  const headerBytes = 64
  const [tableAt, count, namesIndex] = [
    Number(elf.readBigUInt64LE(40)),
    elf.readUInt16LE(60),
    elf.readUInt16LE(62),
  ]
  const headers = Array.from({ length: count }, (_, i) =>
    elf.subarray(tableAt + i * headerBytes, tableAt + (i + 1) * headerBytes),
  )
  const isLoaded = (header: Buffer): boolean => (header.readUInt32LE(8) & 2) !== 0
  const offsetOf = (header: Buffer): number => Number(header.readBigUInt64LE(24))
  const sizeOf = (header: Buffer): number => Number(header.readBigUInt64LE(32))
  const dropped = headers.findIndex((header, i) => i > 0 && !isLoaded(header))
  const [kept, rest] = [headers.slice(0, dropped), headers.slice(dropped)]
  assert(dropped > 0 && !rest.some(isLoaded), 'sections that are not loaded come last')
  const endBytes = Math.min(...rest.map(offsetOf))
  const names = headers[namesIndex]
  assert(names !== undefined && namesIndex >= dropped)
  const text = elf.subarray(offsetOf(names), offsetOf(names) + sizeOf(names))
  const namesHeader = Buffer.from(names)
  namesHeader.writeBigUInt64LE(BigInt(endBytes), 24)
  const padding = Buffer.alloc(-(endBytes + text.length) & 7)
  const body = [Buffer.from(elf.subarray(0, endBytes)), text, padding]
  const stripped = Buffer.concat([...body, ...kept, namesHeader])
  stripped.writeBigUInt64LE(BigInt(endBytes + text.length + padding.length), 40)
  stripped.writeUInt16LE(kept.length + 1, 60)
  stripped.writeUInt16LE(kept.length, 62)
  return stripped
}

const compressed = (bytes: Uint8Array, level: number): Buffer =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } })

function reportSize(file: string): void {
  const bytes = readFileSync(file)
  const megabytes = (size: number): string => `${(size / 1e6).toFixed(1)} MB`
  const gzip = gzipSync(bytes, { level: 6 })
  console.log(
    `${relative(root, file)}: ${megabytes(bytes.length)}, ${megabytes(gzip.length)} in gzip, ${megabytes(compressed(bytes, 9).length)} in zstd`,
  )
  assert(bytes.length <= sizeMaxBytes, `more than ${megabytes(sizeMaxBytes)}`)
}

await main()
