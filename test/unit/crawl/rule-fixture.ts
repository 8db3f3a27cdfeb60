/** A rule as a user writes it, for the tests of what becomes of it. */
import type { RuleForPage } from '../../../src/crawl/described.ts'
import { readRule } from '../../../src/crawl/rule-file.ts'

export const ruleFor = (given: object): RuleForPage => ({
  source: 's',
  rule: readRule({ name: 'r', kind: 'detail', match: '/**', ...given }, ''),
})
