/** Errors on their way to a person: what a disk does has a code of its own, and a remedy may be the case's instead of the table's. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AppError, plainError, reviveError } from '../../../src/lib/errors.ts'

const withCode = (code: string): Error => Object.assign(new Error('as it was said'), { code })

describe('an error that crosses threads', () => {
  const cases: readonly [code: string, expected: string][] = [
    ['SQLITE_FULL', 'storage_full'],
    ['ENOSPC', 'storage_full'],
    ['EDQUOT', 'storage_full'],
    ['SQLITE_CORRUPT_VTAB', 'corrupt'],
    ['SQLITE_NOTADB', 'corrupt'],
    ['SQLITE_IOERR_READ', 'io'],
    ['EROFS', 'io'],
    ['SQLITE_CONSTRAINT', 'internal'],
    ['ERR_ASSERTION', 'internal'],
  ]
  for (const [code, expected] of cases)
    it(`is ${expected} where the system says ${code}`, () => {
      const revived = reviveError(plainError(withCode(code)))
      assert.equal(revived.code, expected)
      assert.equal(revived.message, 'as it was said')
    })

  it('keeps its code and when to try again', () => {
    const revived = reviveError(plainError(new AppError('overloaded', 'full', { retryAfterS: 3 })))
    assert.deepEqual(
      [revived.code, revived.message, revived.retryAfterS],
      ['overloaded', 'full', 3],
    )
  })
})

describe('a remedy', () => {
  it("is the table's, unless the case has its own", () => {
    assert.equal(new AppError('io', 'x').remedy, 'Check the disk.')
    assert.equal(new AppError('io', 'x', { remedy: 'Do this.' }).remedy, 'Do this.')
  })
})
