/** The public suites of other projects, as `npm run conformance` asks them: nothing is wrong but what is listed with its reason. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allQuestions, judgeResults } from '../public-suites/all.ts'
import { askSuite, defaultFolder, deviation, fault, readIndex } from '../public-suites/suite.ts'

describe('the public suites', () => {
  const index = readIndex(process.env['FINDLING_CONFORMANCE'] ?? defaultFolder)
  if (index === null) {
    it('lie beside the checkout', (t) => {
      assert.ok(process.env['CI'] !== 'true', 'they must be there under CI')
      t.skip('they do not here')
    })
    return
  }
  for (const entry of index) {
    const name = entry.file.replace(/\.json$/, '')
    it(`${name}: every case, or a reason`, async (t) => {
      const result = await askSuite(defaultFolder, entry, allQuestions[name])
      assert.equal(result.of, entry.scored)
      t.diagnostic(`${result.passed} of ${result.of}`)
      assert.deepEqual(judgeResults([result]).wrong, [], JSON.stringify(result.reasons))
    })
  }
})

describe('the table of results', () => {
  const of = (passed: number, kind: 'fault' | 'deviation' | 'unbuilt', cases: number[]) => ({
    suite: 's',
    kind: 'url',
    passed,
    of: passed + cases.length,
    skipped: 0,
    reasons: [{ why: 'w', kind, cases }],
  })
  it('calls a fault wrong, a deviation not', () => {
    assert.deepEqual(judgeResults([of(9, 'fault', [3])]).wrong, ['s: 9 of 10'])
    assert.deepEqual(judgeResults([of(9, 'deviation', [3])]).wrong, [])
  })
  it('wants 95 in 100 of the guesses', () => {
    const guesses = (passed: number, missed: number) => ({
      ...of(
        passed,
        'fault',
        Array.from({ length: missed }, (_, i) => i),
      ),
      suite: 'charset-detect-node-chardet',
    })
    assert.deepEqual(judgeResults([guesses(95, 5)]).wrong, [])
    assert.equal(judgeResults([guesses(94, 6)]).wrong.length, 1)
  })
  it('counts each kind', () => {
    const { summary } = judgeResults([of(9, 'fault', [1, 2]), of(1, 'unbuilt', [5])])
    assert.deepEqual(
      [summary.cases, summary.passed, summary.faults, summary.unbuilt, summary.deviations],
      [13, 10, 2, 1, 0],
    )
    assert.notDeepEqual(deviation('x'), fault('x'))
  })
})
