/** All public suites together, and what they must reach: nothing wrong but undeclared charsets, of which 95 in 100 must be right. */
import { charsetQuestions } from './charsets.ts'
import { pageQuestions } from './pages.ts'
import { robotsQuestions } from './robots.ts'
import type { Questions, Result } from './suite.ts'
import { urlQuestions } from './urls.ts'

export const allQuestions: Questions = {
  ...robotsQuestions,
  ...urlQuestions,
  ...charsetQuestions,
  ...pageQuestions,
}

/** Suites of guesses, which no method gets all right: the least share. */
const leastShare: Readonly<Record<string, number>> = { 'charset-detect-node-chardet': 0.95 }

export type Summary = {
  suites: number
  cases: number
  passed: number
  deviations: number
  faults: number
  unbuilt: number
  wrong: string[]
  bySuite: Record<string, [passed: number, of: number]>
}

/** `wrong`: one line for each suite that must not stay as it is. */
export function judgeResults(results: readonly Result[]): { wrong: string[]; summary: Summary } {
  const countOf = (result: Result, kind: Result['reasons'][number]['kind']): number =>
    result.reasons
      .filter((reason) => reason.kind === kind)
      .reduce((sum, { cases }) => sum + cases.length, 0)
  const total = (count: (result: Result) => number): number =>
    results.reduce((sum, result) => sum + count(result), 0)
  const wrong = results
    .filter((result) => {
      const least = leastShare[result.suite]
      return least === undefined ? countOf(result, 'fault') > 0 : result.passed < least * result.of
    })
    .map((result) => `${result.suite}: ${result.passed} of ${result.of}`)
  const summary: Summary = {
    suites: results.length,
    cases: total(({ of }) => of),
    passed: total(({ passed }) => passed),
    deviations: total((result) => countOf(result, 'deviation')),
    faults: total((result) => countOf(result, 'fault')),
    unbuilt: total((result) => countOf(result, 'unbuilt')),
    wrong,
    bySuite: Object.fromEntries(results.map(({ suite, passed, of }) => [suite, [passed, of]])),
  }
  return { wrong, summary }
}
