/** What a public suite is here: its cases, a question for each, and what came of it. Reads the files beside the checkout, copies nothing. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/**
 * null = as the case wants it. deviation: we differ on purpose, and `why` is a sentence that a reader can judge. fault: we are wrong.
 * unbuilt: what the suite asks for does not exist yet.
 */
export type Verdict = null | { kind: 'deviation' | 'fault' | 'unbuilt'; why: string }
// oxlint-disable-next-line typescript/no-explicit-any -- the shape of a case is the suite's own
export type Case = any
export type Question = (one: Case) => Verdict | Promise<Verdict>
/** By file name without ending. */
export type Questions = Readonly<Record<string, Question>>

export const deviation = (why: string): Verdict => ({ kind: 'deviation', why })
export const fault = (why: string): Verdict => ({ kind: 'fault', why })
export const equal = (got: unknown, wanted: unknown): Verdict =>
  JSON.stringify(got) === JSON.stringify(wanted)
    ? null
    : fault(`${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`.slice(0, 300))

export type IndexEntry = {
  file: string
  kind: string
  count: number
  scored: number
  skip?: Record<string, number[]>
}

/** One line of the table. `reasons`: why the rest did not pass, with the numbers of the cases. */
export type Result = {
  suite: string
  kind: string
  passed: number
  of: number
  skipped: number
  reasons: { why: string; kind: 'deviation' | 'fault' | 'unbuilt'; cases: number[] }[]
}

export const defaultFolder = resolve(import.meta.dirname, '../../../shared/conformance')

/** Null where the folder holds no index. */
export function readIndex(folder: string): IndexEntry[] | null {
  const path = resolve(folder, 'INDEX.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as IndexEntry[]) : null
}

/** Cases that INDEX.json excludes are not asked. */
export async function askSuite(
  folder: string,
  entry: IndexEntry,
  question: Question | undefined,
): Promise<Result> {
  const { cases } = JSON.parse(readFileSync(resolve(folder, entry.file), 'utf8')) as {
    cases: Case[]
  }
  const skip = new Set(Object.values(entry.skip ?? {}).flat())
  const asked = cases.map((one, at) => ({ one, at })).filter(({ at }) => !skip.has(at))
  const reasons = new Map<string, Result['reasons'][number]>()
  let passed = 0
  for (const { one, at } of asked) {
    const verdict: Verdict =
      question === undefined
        ? { kind: 'unbuilt', why: 'nothing here answers this suite' }
        : await question(one)
    if (verdict === null) {
      passed += 1
      continue
    }
    const known = reasons.get(verdict.why)
    if (known === undefined) reasons.set(verdict.why, { ...verdict, cases: [at] })
    else known.cases.push(at)
  }
  const suite = entry.file.replace(/\.json$/, '')
  const result = { suite, kind: entry.kind, passed, of: asked.length, skipped: skip.size }
  return { ...result, reasons: [...reasons.values()] }
}

type Coded = { b64: string }
/** A recorded argument is a text, or bytes in base64. */
export const bytesOf = (value: string | Coded | null | undefined): Uint8Array =>
  typeof value === 'object' && value !== null
    ? new Uint8Array(Buffer.from(value.b64, 'base64'))
    : new Uint8Array(Buffer.from(value ?? '', 'utf8'))
export const textOf = (value: string | Coded | null): string =>
  typeof value === 'string' ? value : Buffer.from(bytesOf(value)).toString('latin1')
