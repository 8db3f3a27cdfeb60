/** Reads what a person wrote (a file, a request) into typed values: each mistake names its path and what was wanted. Knows no meaning. */

/** A mistake in a value. `path` as in "sources[0].rules[1].match"; '' = the whole. */
export class ValueProblem extends Error {
  readonly path: string
  constructor(path: string, what: string) {
    super(what)
    this.name = 'ValueProblem'
    this.path = path
  }
}

/** Takes an untrusted value, gives it back typed. @throws ValueProblem */
export type Reader<T> = (value: unknown, path: string) => T
export type ReadBy<R> = R extends Reader<infer T> ? T : never

type Shape = Readonly<Record<string, Reader<unknown>>>
type Known<S extends Shape, K extends keyof S> = { [Name in K]: ReadBy<S[Name]> } & {
  [Name in Exclude<keyof S, K>]?: ReadBy<S[Name]>
}

/** The path of a member. */
export const below = (path: string, key: string | number): string =>
  typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

/** An object of these keys and no others; an unknown one is refused with the nearest known. */
export function object<S extends Shape, K extends keyof S & string>(
  shape: S,
  required: readonly K[],
): Reader<Known<S, K>> {
  return (value, path) => {
    if (!isRecord(value)) throw new ValueProblem(path, `an object is wanted, not ${shown(value)}`)
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(shape, key)) continue
      const near = nearest(key, Object.keys(shape))
      const hint =
        near === null ? `one of ${Object.keys(shape).join(', ')}` : `did you mean "${near}"?`
      throw new ValueProblem(below(path, key), `this key is not known: ${hint}`)
    }
    for (const key of required) {
      if (value[key] === undefined) throw new ValueProblem(path, `"${key}" is missing`)
    }
    const read: Record<string, unknown> = {}
    for (const [key, member] of Object.entries(value)) {
      if (member !== undefined) read[key] = shape[key]?.(member, below(path, key))
    }
    return read as Known<S, K>
  }
}

/** An object whose keys are names given by the user. */
export function named<T>(
  key: { pattern: RegExp; wanted: string; max: number },
  member: Reader<T>,
): Reader<Record<string, T>> {
  return (value, path) => {
    if (!isRecord(value)) throw new ValueProblem(path, `an object is wanted, not ${shown(value)}`)
    const entries = Object.entries(value)
    if (entries.length > key.max) throw new ValueProblem(path, `at most ${key.max} are possible`)
    return Object.fromEntries(
      entries.map(([name, each]) => {
        if (!key.pattern.test(name) || name === '__proto__')
          throw new ValueProblem(below(path, name), `the name is not possible: ${key.wanted}`)
        return [name, member(each, below(path, name))]
      }),
    )
  }
}

export function list<T>(member: Reader<T>, { min = 0, max }: { min?: number; max: number }) {
  return (value: unknown, path: string): T[] => {
    if (!Array.isArray(value)) throw new ValueProblem(path, `a list is wanted, not ${shown(value)}`)
    if (value.length < min || value.length > max)
      throw new ValueProblem(path, `${min} to ${max} entries are possible, not ${value.length}`)
    return value.map((each: unknown, i) => member(each, below(path, i)))
  }
}

/** One value where a list is possible too. */
export const oneOrMore =
  <T>(member: Reader<T>, limits: { max: number }): Reader<T[]> =>
  (value, path) =>
    Array.isArray(value) ? list(member, { min: 1, ...limits })(value, path) : [member(value, path)]

export const text =
  ({ min = 1, max }: { min?: number; max: number }): Reader<string> =>
  (value, path) => {
    if (typeof value !== 'string')
      throw new ValueProblem(path, `a text is wanted, not ${shown(value)}`)
    if (value.length < min || value.length > max)
      throw new ValueProblem(path, `${min} to ${max} characters are possible, not ${value.length}`)
    return value
  }

export const number =
  ({ min, max, whole = true }: { min: number; max: number; whole?: boolean }): Reader<number> =>
  (value, path) => {
    const isGood =
      typeof value === 'number' &&
      value >= min &&
      value <= max &&
      (!whole || Number.isSafeInteger(value))
    if (isGood) return value
    const kind = whole ? 'a whole number' : 'a number'
    throw new ValueProblem(path, `${kind} from ${min} to ${max} is wanted, not ${shown(value)}`)
  }

export const flag: Reader<boolean> = (value, path) => {
  if (typeof value === 'boolean') return value
  throw new ValueProblem(path, `true or false is wanted, not ${shown(value)}`)
}

export const choice =
  <const T extends string>(options: readonly T[]): Reader<T> =>
  (value, path) => {
    const found = options.find((option) => option === value)
    if (found !== undefined) return found
    const near = typeof value === 'string' ? nearest(value, options) : null
    const hint = near === null ? '' : `: did you mean "${near}"?`
    throw new ValueProblem(
      path,
      `one of ${options.join(', ')} is wanted, not ${shown(value)}${hint}`,
    )
  }

/** The one of `names` that is a slip of the pen away; null where none is near. */
export function nearest(name: string, names: readonly string[]): string | null {
  let best: string | null = null
  let least = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const each of names) {
    const distance = editDistance(name.toLowerCase().slice(0, 60), each.toLowerCase())
    if (distance < least) [best, least] = [each, distance]
  }
  return best
}

/** Damerau's distance, neighbours swapped counting one. */
function editDistance(a: string, b: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + cost)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) least = Math.min(least, (before[j - 2] ?? 0) + 1)
      next.push(least)
    }
    ;[before, row] = [row, next]
  }
  return row[b.length] ?? 0
}
