/** The described sources in force: kept in the store, compiled here, asked which rule is for a page and how it is asked for. Owns their compiled form. */
import assert from 'node:assert'
import { AppError } from '../lib/errors.ts'
import type { CrawlSpec, SourceStatus } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { Plan } from './plan.ts'
import type { Rule } from './rule-types.ts'
import { isAdmitted, type ScopeSpec } from './scope.ts'
import { defaultSourceHttp, parseSourceHttp, type SourceHttp } from './source-http.ts'
import { hideSecrets, restoreSecrets } from './source-secrets.ts'
import { crawlSpecOfSource, parseSource, sourcesMax, type SourceSpec } from './source-file.ts'
import { compilePattern, type UrlMatcher } from './url-pattern.ts'

/** What a visit must know of the source it is for. */
export type RuleForPage = { source: string; rule: Rule }

type Compiled = {
  given: unknown
  spec: SourceSpec
  changedAtMs: number
  rules: readonly { rule: Rule; matchers: readonly UrlMatcher[] }[]
}

/** What the store keeps of one, as JSON. */
type Kept = { given: unknown; spec: SourceSpec }

export class Described {
  readonly #store: Store
  readonly #sources = new Map<string, Compiled>()

  constructor(store: Store) {
    this.#store = store
    this.#load()
  }

  #load(): void {
    this.#sources.clear()
    for (const { name, spec, changedAtMs } of this.#store.describedSources())
      this.#sources.set(name, compile(JSON.parse(spec) as Kept, changedAtMs))
  }

  /** @param nextAtMs when it is started by itself */
  all(nextAtMs: (name: string) => number | null = () => null): SourceStatus[] {
    const timeOf = (atMs: number | null): string | null =>
      atMs === null ? null : new Date(atMs).toISOString()
    return [...this.#sources.values()].map(({ given, spec, changedAtMs }) => ({
      name: spec.name,
      changed_at: new Date(changedAtMs).toISOString(),
      next_run: timeOf(nextAtMs(spec.name)),
      source: hideSecrets(given),
    }))
  }

  get(name: string): SourceSpec | null {
    return this.#sources.get(name)?.spec ?? null
  }

  /** Of those that have one. */
  plans(): Map<string, Plan> {
    const found = new Map<string, Plan>()
    for (const [name, { spec }] of this.#sources) if (spec.schedule) found.set(name, spec.schedule)
    return found
  }

  /** @throws AppError not_found */
  wishOf(name: string): CrawlSpec {
    const source = this.get(name)
    if (source === null) throw new AppError('not_found', `There is no source "${name}".`)
    return crawlSpecOfSource(source)
  }

  /** @throws AppError invalid_parameter where the environment lacks a secret */
  httpOf(name: string): HttpOfSource {
    const source = this.get(name)
    return source === null ? { http: defaultSourceHttp, homes: null } : httpOfSource(source)
  }

  /**
   * Adds or replaces. Where its rules changed, its pages are fetched anew at its next crawl, without a condition: what they are read
   * into may differ though they did not change.
   * @param sent as a user writes it, or as it was shown; what is kept beside it is resolved
   * @throws AppError invalid_parameter | conflict
   */
  put(
    sent: unknown,
    mayReplace = true,
    onPut: (before: SourceSpec | null, after: SourceSpec) => void = () => {},
  ): SourceStatus {
    const { name } = parseSource(sent)
    const given = restoreSecrets(sent, this.#sources.get(name)?.given)
    const spec = parseSource(given)
    httpOfSource(spec)
    const before = this.get(name)
    const kept = JSON.stringify({ given, spec } satisfies Kept)
    if (before === null && this.#sources.size >= sourcesMax)
      throw new AppError('conflict', `There are ${sourcesMax} sources already.`)
    if (before !== null && !mayReplace)
      throw new AppError('conflict', `There is a source "${spec.name}" already.`)
    const isChanged = this.#store.transaction(() => {
      const isNew = this.#store.putDescribedSource(spec.name, kept)
      if (isNew && (before === null || readsOtherwise(before, spec)))
        this.#store.forgetValidators(this.#store.scopesOfDescribed(spec.name).map(({ id }) => id))
      return isNew
    })
    if (isChanged) this.#load()
    onPut(before, spec)
    const status = this.all().find((one) => one.name === name)
    assert(status, 'a source that was put is there')
    return status
  }

  /** Its pages and its job stay. @throws AppError not_found */
  remove(name: string): void {
    const isGone = this.#store.transaction(() => this.#store.removeDescribedSource(name))
    if (!isGone) throw new AppError('not_found', `There is no source "${name}".`)
    this.#load()
  }

  /**
   * The first rule that is for this URL: of the source it is fetched for, else of any source that admits it, so that a page has the same
   * fields whichever crawl came to it first. null = none.
   */
  ruleFor(
    url: string,
    sourceId: number,
    scopes: ReadonlyMap<number, ScopeSpec>,
  ): RuleForPage | null {
    if (this.#sources.size === 0) return null
    const own = scopes.get(sourceId)?.name
    const found = own === undefined ? null : this.#ruleOf(own, url)
    if (found !== null) return found
    for (const name of this.#sources.keys()) {
      if (name === own) continue
      const other = this.#ruleOf(name, url)
      const admits = (scope: ScopeSpec): boolean => scope.name === name && isAdmitted(scope, url)
      if (other !== null && [...scopes.values()].some(admits)) return other
    }
    return null
  }

  #ruleOf(name: string, url: string): RuleForPage | null {
    const found = this.#sources
      .get(name)
      ?.rules.find(({ matchers }) => matchers.some((matches) => matches(url)))
    return found === undefined ? null : { source: name, rule: found.rule }
  }
}

/** What a rule expects changes nothing of what it takes. */
function readsOtherwise(before: SourceSpec, after: SourceSpec): boolean {
  const takes = ({ rules }: SourceSpec): string =>
    JSON.stringify(rules.map((rule) => ({ ...rule, expect: [] })))
  return takes(before) !== takes(after)
}

/** How the pages of a source are asked for; its own headers go to the hosts of `homes`, null = every host. */
export type HttpOfSource = { http: SourceHttp; homes: readonly string[] | null }

/**
 * With the secrets that it names in this process's environment.
 * @throws AppError invalid_parameter where the environment lacks one
 */
export function httpOfSource({ name, http: given, seeds, include }: SourceSpec): HttpOfSource {
  const http = parseSourceHttp(given, `source ${name}: http`, process.env)
  const login = http.login === null ? [] : [http.login.url]
  return { http, homes: [...seeds, ...include, ...login] }
}

function compile({ given, spec }: Kept, changedAtMs: number): Compiled {
  return {
    given,
    spec,
    changedAtMs,
    rules: spec.rules.map((rule) => ({ rule, matchers: rule.match.map(compilePattern) })),
  }
}

/** The rule of a list of sources that is for a URL, without a store: for trying rules out. */
export function ruleAmong(sources: readonly SourceSpec[], url: string): RuleForPage | null {
  for (const { name, rules } of sources) {
    const rule = rules.find(({ match }) => match.some((pattern) => compilePattern(pattern)(url)))
    if (rule !== undefined) return { source: name, rule }
  }
  return null
}
