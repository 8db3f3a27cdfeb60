/** Public suites of other projects that lie beside the checkout: read, never copied. Missing = the test skips, but not under CI. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { TestContext } from 'node:test'

const folder = resolve(import.meta.dirname, '../../shared/conformance')

type Entry = { file: string; count: number; scored: number; skip?: Record<string, number[]> }
export type Suite = {
  cases: readonly unknown[]
  /** Cases that INDEX.json excludes, by number, with the reason. */
  skipped: ReadonlyMap<number, string>
  scored: number
}

/** Null after the test was marked as skipped. */
export function conformance(file: string, t: TestContext): Suite | null {
  const path = resolve(folder, file)
  if (!existsSync(path)) {
    assert.ok(process.env['CI'] !== 'true', `${path} must be there under CI`)
    t.skip('the conformance suites do not lie beside this checkout')
    return null
  }
  const read = (name: string): unknown => JSON.parse(readFileSync(resolve(folder, name), 'utf8'))
  const entry = (read('INDEX.json') as Entry[]).find((one) => one.file === file)
  assert.ok(entry !== undefined, `${file} is in INDEX.json`)
  const skipped = new Map(
    Object.entries(entry.skip ?? {}).flatMap(([why, at]) => at.map((i) => [i, why] as const)),
  )
  const { cases } = read(file) as { cases: unknown[] }
  assert.equal(cases.length, entry.count)
  return { cases, skipped, scored: entry.scored }
}
