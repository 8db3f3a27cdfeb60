/** A wish to crawl as a user gives it, with canonical URLs. Pure. */
import { AppError } from '../lib/errors.ts'
import { normalizeTyped } from '../lib/url.ts'
import type { CrawlSpec } from '../store/records.ts'

/** @throws AppError invalid_parameter, naming the seed */
export function checkedSpec(spec: CrawlSpec, seedsMax: number): CrawlSpec {
  if (spec.seeds.length === 0)
    throw new AppError('invalid_parameter', 'a crawl needs at least one URL')
  if (spec.seeds.length > seedsMax)
    throw new AppError('invalid_parameter', `at most ${seedsMax} URLs at a time`)
  const canonical = (text: string, what: string): string => {
    // People paste example.org as often as https://example.org.
    const url = normalizeTyped(text)
    if (url === null)
      throw new AppError('invalid_parameter', `${what} is no http or https URL: ${text}`)
    return url
  }
  return {
    ...spec,
    seeds: [...new Set(spec.seeds.map((seed) => canonical(seed, 'the seed')))],
    include: [...new Set(spec.include.map((prefix) => canonical(prefix, 'the prefix')))],
  }
}
