/** What of others is in the program, from the lockfile and the installed packages: their licences as one text, and a bill of materials. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Something of others that is in the executable. `integrity` as in the lockfile; '' where it is a part of another package. */
export type Component = {
  name: string
  version: string
  /** SPDX expression. */
  license: string
  integrity: string
  /** Names of components that it uses. */
  uses: readonly string[]
  text: string
}

type Locked = {
  version: string
  license?: string
  integrity?: string
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const folderOfPackages = 'node_modules/'
const licenseFile = /^(?:licen[cs]es?|copying|notice|third[-_]?party\w*)\b/i
/** Of the optional packages, which are all native, those are in an executable that are for its systems. */
const isForOurSystems = (name: string): boolean => /-linux-(?:x64|arm64)(?:-gnu)?$/.test(name)
/** Packages for one system hold no text of their own: it stands in the package that asks for them. */
const parents: Readonly<Record<string, string>> = {
  '@koromix/koffi': 'koffi',
  '@node-rs/jieba': '@node-rs/jieba',
}

/**
 * Everything that the lockfile names for use (not for development), sorted by name, and what lies inside of these packages.
 * @param root folder of package.json and node_modules
 * @param sqlite version of the SQLite that better-sqlite3 carries
 */
export function componentsOf(root: string, sqlite: string): Component[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>
  }
  const used = Object.entries(lock.packages).filter(
    ([path, { dev, optional }]) =>
      path !== '' && dev !== true && (optional !== true || isForOurSystems(path)),
  )
  const packages = used.map(([path, locked]): Component => {
    const name = path.slice(path.lastIndexOf(folderOfPackages) + folderOfPackages.length)
    const wanted = Object.keys({ ...locked.dependencies, ...locked.optionalDependencies })
    return {
      name,
      version: locked.version,
      license: locked.license ?? 'NOASSERTION',
      integrity: locked.integrity ?? '',
      uses: wanted.filter((each) =>
        used.some(([other]) => other.endsWith(folderOfPackages + each)),
      ),
      text: textOf(root, path, name, locked),
    }
  })
  const sorted = [...packages, ...partsOf(sqlite)].toSorted(
    (a, b) => compare(a.name, b.name) || compare(a.version, b.version),
  )
  // The same version may be installed in two places.
  return sorted.filter(
    ({ name, version }, i) => name !== sorted[i - 1]?.name || version !== sorted[i - 1]?.version,
  )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Not packages by themselves. */
const partsOf = (sqlite: string): Component[] => [
  {
    name: 'SQLite',
    version: sqlite,
    license: 'blessing',
    integrity: '',
    uses: [],
    text: 'SQLite is in the public domain: its authors disclaim copyright (https://sqlite.org/copyright.html). It is compiled into better-sqlite3.',
  },
]

function textOf(root: string, path: string, name: string, { license, version }: Locked): string {
  const own = licenseTexts(join(root, path))
  if (own !== '') return own
  const base = name.replace(/-linux-.*$/, '')
  const parent = parents[base]
  if (parent !== undefined) return licenseTexts(join(root, folderOfPackages, parent))
  // The same program for another machine, which npm does not install on this one.
  const sibling = name.replace(/(?:x64|arm64)$/, process.arch)
  if (sibling !== name) return licenseTexts(join(root, folderOfPackages, sibling))
  return withoutFile(root, path, license, version)
}

/** A package may name its licence and bring no text: then its author and the text that is the same for all. */
function withoutFile(
  root: string,
  path: string,
  license: string | undefined,
  version: string,
): string {
  const file = join(root, path, 'package.json')
  if (license !== 'MIT' || !existsSync(file)) return ''
  const { author } = JSON.parse(readFileSync(file, 'utf8')) as {
    author?: string | { name?: string }
  }
  const holder = typeof author === 'string' ? author : author?.name
  if (holder === undefined) return ''
  const [, , , ...terms] = readFileSync(join(root, 'LICENSE'), 'utf8').split('\n')
  return `MIT License (named in package.json of version ${version})\n\nCopyright (c) ${holder}\n${terms.join('\n')}`
}

function licenseTexts(folder: string): string {
  if (!existsSync(folder)) return ''
  return readdirSync(folder)
    .filter((name) => licenseFile.test(name))
    .toSorted()
    .flatMap((name) => {
      const file = join(folder, name)
      if (!statSync(file).isDirectory()) return [readFileSync(file, 'utf8')]
      return readdirSync(file)
        .toSorted()
        .map((each) => readFileSync(join(file, each), 'utf8'))
    })
    .join('\n\n')
}

/** For `findling licenses` and dist/THIRD-PARTY-LICENSES. A text that several components share is printed once. */
export function licensesText(components: readonly Component[]): string {
  const byText = new Map<string, Component[]>()
  for (const component of components)
    byText.set(component.text.trim(), [...(byText.get(component.text.trim()) ?? []), component])
  const line = '='.repeat(80)
  const sections = [...byText].map(
    ([text, owners]) =>
      `${line}\n${owners.map(({ name, version, license }) => `${name} ${version} (${license})`).join('\n')}\n${line}\n\n${text}\n`,
  )
  return `${preface}\n${sections.join('\n')}`
}

const preface = `Findling is under the MIT License. The executable holds the following works of others, each under its own licence.

The Chinese dictionary is made from the word list of @node-rs/jieba (MIT, of jieba), the table from traditional to simplified characters
from opencc-js (MIT AND Apache-2.0). The licences of what Node.js itself is made of (V8, ICU, OpenSSL, libuv and others) stand in its part.

The executable is linked with the C and C++ libraries of the system and does not hold them. The container image does: glibc
(LGPL-2.1-or-later) and the runtime libraries of GCC (GPL-3.0-or-later WITH GCC-exception-3.1), unchanged from Debian, which offers
their sources; their notices lie in /licenses of the image.
`

/** CycloneDX 1.6 in JSON. The same components give the same bytes: no time, and a serial number made from the content. */
export function billOfMaterials(components: readonly Component[], version: string): string {
  const main = { type: 'application', 'bom-ref': 'findling', name: 'findling', version }
  const refOf = ({ name, version: own }: Component): string => `${name}@${own}`
  const listed = components.map((component) => ({
    type: 'library',
    'bom-ref': refOf(component),
    name: component.name,
    version: component.version,
    licenses: [
      / (?:AND|OR|WITH) /.test(component.license)
        ? { expression: component.license }
        : { license: { id: component.license } },
    ],
    ...hashesOf(component.integrity),
    ...(component.integrity === '' ? {} : { purl: packageUrl(component) }),
  }))
  // Where a package is installed in two versions, who uses it is said to use both: a bill too long is safe, one too short is not.
  const refsOf = (names: readonly string[]): string[] => [
    ...new Set(components.filter(({ name }) => names.includes(name)).map(refOf)),
  ]
  const used = new Set(components.flatMap(({ uses }) => uses))
  const dependencies = [
    {
      ref: main['bom-ref'],
      dependsOn: components.filter(({ name }) => !used.has(name)).map(refOf),
    },
    ...components.map((component) => ({
      ref: refOf(component),
      dependsOn: refsOf(component.uses),
    })),
  ]
  const body = {
    version: 1,
    metadata: { component: main },
    components: listed,
    dependencies,
  }
  const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex')
  const serial = `urn:uuid:${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`
  const head = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: serial }
  return `${JSON.stringify({ ...head, ...body }, null, 2)}\n`
}

const packageUrl = ({ name, version }: Component): string =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`

/** The lockfile's integrity is one of the Web's: `sha512-` and base64. */
function hashesOf(integrity: string): { hashes?: { alg: string; content: string }[] } {
  const [algorithm, base64] = integrity.split('-', 2)
  if (algorithm !== 'sha512' || base64 === undefined) return {}
  return { hashes: [{ alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }] }
}
