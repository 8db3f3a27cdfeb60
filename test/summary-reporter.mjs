/** A reporter for node:test beside the usual one: appends "PASSED FAILED" of the whole run to the file FINDLING_TEST_SUMMARY. Prints nothing. */
import { appendFileSync } from 'node:fs'

// oxlint-disable-next-line import/no-default-export -- node:test asks for one
export default async function* summary(source) {
  for await (const { type, data } of source) {
    // One summary a file, and one without a file over all.
    if (type !== 'test:summary' || data.file !== undefined) continue
    const { passed, failed, cancelled } = data.counts
    const file = process.env['FINDLING_TEST_SUMMARY']
    if (file) appendFileSync(file, `${passed} ${failed + cancelled}\n`)
  }
  yield ''
}
