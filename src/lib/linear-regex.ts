/**
 * Regular expressions that answer in linear time, whatever they are given: users write them, strangers write the text. Thompson's
 * construction, all states at once (K. Thompson, 1968). Says only whether there is a match; no groups, no look-around, no back references.
 */

export type LinearRegex = { test(text: string): boolean }

/** What is wrong with an expression, and where. */
export class RegexProblem extends Error {}

const sourceCharsMax = 2_000
const statesMax = 2_000
const repeatsMax = 200

/** Inclusive ranges of UTF-16 units. */
type Ranges = readonly (readonly [number, number])[]
type Node =
  | { kind: 'units'; ranges: Ranges }
  | { kind: 'start' | 'end' }
  | { kind: 'sequence' | 'choice'; parts: Node[] }
  | { kind: 'repeat'; part: Node; min: number; max: number }

const unitMax = 0xffff
const classes: Readonly<Record<string, Ranges>> = {
  d: [[48, 57]],
  w: [
    [48, 57],
    [65, 90],
    [95, 95],
    [97, 122],
  ],
  s: [
    [9, 13],
    [32, 32],
    [160, 160],
    [0x2028, 0x2029],
    [0x3000, 0x3000],
    [0xfeff, 0xfeff],
  ],
}
const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v' }

/**
 * Understands literals, `.`, classes, \d \w \s (and \D \W \S), groups, `|`, `* + ?`, `{n,m}`, `^ $`.
 * @throws RegexProblem
 */
export function compileRegex(source: string, ignoresCase = false): LinearRegex {
  if (source.length > sourceCharsMax)
    throw new RegexProblem(`longer than ${sourceCharsMax} characters`)
  const program = new Program(ignoresCase)
  program.finish(new Reading(source).whole())
  return program
}

class Reading {
  readonly #source: string
  #at = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
  }

  whole(): Node {
    const node = this.#choice()
    if (this.#at < this.#source.length) throw this.#problem('this ) opens nothing')
    return node
  }

  #problem(what: string): RegexProblem {
    return new RegexProblem(`${what} (at character ${this.#at + 1})`)
  }

  #peek(): string {
    return this.#source[this.#at] ?? ''
  }

  #takes(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #choice(): Node {
    const parts = [this.#sequence()]
    while (this.#takes('|')) parts.push(this.#sequence())
    return parts.length === 1 ? (parts[0] as Node) : { kind: 'choice', parts }
  }

  #sequence(): Node {
    const parts: Node[] = []
    while (this.#at < this.#source.length && this.#peek() !== '|' && this.#peek() !== ')')
      parts.push(this.#repeated())
    return { kind: 'sequence', parts }
  }

  #repeated(): Node {
    let part = this.#atom()
    for (;;) {
      const bounds = this.#bounds()
      if (bounds === null) return part
      this.#takes('?') // lazy or greedy: whether there is a match is the same
      part = { kind: 'repeat', part, ...bounds }
    }
  }

  #bounds(): { min: number; max: number } | null {
    if (this.#takes('*')) return { min: 0, max: Infinity }
    if (this.#takes('+')) return { min: 1, max: Infinity }
    if (this.#takes('?')) return { min: 0, max: 1 }
    const found = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.#source.slice(this.#at))
    if (found === null) return null
    const min = Number(found[1])
    const max = found[2] === undefined ? min : found[3] === '' ? Infinity : Number(found[3])
    if (min > repeatsMax || (max !== Infinity && max > repeatsMax) || max < min)
      throw this.#problem(`repeats go from 0 to ${repeatsMax}`)
    this.#at += found[0].length
    return { min, max }
  }

  #atom(): Node {
    if (this.#takes('(')) return this.#group()
    if (this.#takes('^')) return { kind: 'start' }
    if (this.#takes('$')) return { kind: 'end' }
    if (this.#takes('.'))
      return {
        kind: 'units',
        ranges: without([
          [10, 10],
          [13, 13],
        ]),
      }
    if (this.#takes('[')) return this.#class()
    if (this.#takes('\\')) return { kind: 'units', ranges: this.#escape() }
    if (/[*+?]/.test(this.#peek())) throw this.#problem('there is nothing to repeat')
    return { kind: 'units', ranges: single(this.#source.charCodeAt(this.#at++)) }
  }

  #group(): Node {
    if (this.#takes('?:') || !this.#takes('?')) {
      if (++this.#depth > 50) throw this.#problem('groups are nested too deeply')
      const node = this.#choice()
      if (!this.#takes(')')) throw this.#problem('a ) is missing')
      this.#depth--
      return node
    }
    throw this.#problem('look-around and named groups are not possible here')
  }

  #escape(): Ranges {
    const letter = this.#peek()
    this.#at++
    if (letter === '') throw this.#problem('the expression ends in a backslash')
    const ranges = classes[letter.toLowerCase()]
    if (ranges !== undefined) return letter === letter.toLowerCase() ? ranges : without(ranges)
    const control = controls[letter]
    if (control !== undefined) return single(control.charCodeAt(0))
    const hex = /^(?:u([\da-f]{4})|x([\da-f]{2}))/i.exec(this.#source.slice(this.#at - 1))
    if (hex !== null) {
      this.#at += hex[0].length - 1
      return single(Number.parseInt(hex[1] ?? hex[2] ?? '', 16))
    }
    if (/[a-z\d]/i.test(letter)) throw this.#problem(`\\${letter} is not possible here`)
    return single(letter.charCodeAt(0))
  }

  #class(): Node {
    const isNegated = this.#takes('^')
    const ranges: (readonly [number, number])[] = []
    for (let isFirst = true; isFirst || this.#peek() !== ']'; isFirst = false) {
      if (this.#at >= this.#source.length) throw this.#problem('a ] is missing')
      if (isFirst && this.#peek() === ']') break
      const low = this.#classUnit()
      const isRange = this.#peek() === '-' && /[^\]]/.test(this.#source[this.#at + 1] ?? '')
      if (!isRange || low.length !== 1) ranges.push(...low)
      else {
        this.#at++
        const high = this.#classUnit()
        const [from, to] = [low[0]?.[0] ?? 0, high[0]?.[1] ?? 0]
        if (high.length !== 1 || from > to) throw this.#problem('this range is upside down')
        ranges.push([from, to])
      }
    }
    this.#at++
    return { kind: 'units', ranges: isNegated ? without(ranges) : ranges }
  }

  #classUnit(): Ranges {
    return this.#takes('\\') ? this.#escape() : single(this.#source.charCodeAt(this.#at++))
  }
}

const single = (unit: number): Ranges => [[unit, unit]]

function without(ranges: Ranges): Ranges {
  const rest: (readonly [number, number])[] = []
  let from = 0
  for (const [low, high] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (low > from) rest.push([from, low - 1])
    from = Math.max(from, high + 1)
  }
  if (from <= unitMax) rest.push([from, unitMax])
  return rest
}

/** States of the machine: what they need, and where they lead. */
type State =
  | { kind: 'units'; ranges: Ranges; next: number }
  | { kind: 'start' | 'end'; next: number }
  | { kind: 'fork'; next: number; other: number }
  | { kind: 'match' }

class Program implements LinearRegex {
  readonly #ignoresCase: boolean
  readonly #states: State[] = [{ kind: 'match' }]
  #first = 0
  /** Which step has put a state into the list last: a list holds each once. */
  #marks = new Uint32Array(0)
  #step = 0

  constructor(ignoresCase: boolean) {
    this.#ignoresCase = ignoresCase
  }

  finish(node: Node): void {
    this.#first = this.#add(node, 0)
    this.#marks = new Uint32Array(this.#states.length)
  }

  #push(state: State): number {
    if (this.#states.length >= statesMax) throw new RegexProblem('too large when written out')
    return this.#states.push(state) - 1
  }

  /** Builds from the end: `next` is where the part leads. */
  #add(node: Node, next: number): number {
    switch (node.kind) {
      case 'units':
        return this.#push({ kind: 'units', ranges: node.ranges, next })
      case 'start':
      case 'end':
        return this.#push({ kind: node.kind, next })
      case 'sequence':
        return node.parts.reduceRight((to, part) => this.#add(part, to), next)
      case 'choice':
        return node.parts
          .map((part) => this.#add(part, next))
          .reduceRight((other, at) => this.#push({ kind: 'fork', next: at, other }))
      case 'repeat':
        return this.#addRepeat(node, next)
    }
  }

  #addRepeat({ part, min, max }: Extract<Node, { kind: 'repeat' }>, next: number): number {
    let at = next
    if (max === Infinity) {
      const loop: State = { kind: 'fork', next: 0, other: next }
      at = this.#push(loop)
      loop.next = this.#add(part, at)
    } else
      for (let i = min; i < max; i++)
        at = this.#push({ kind: 'fork', next: this.#add(part, at), other: next })
    for (let i = 0; i < min; i++) at = this.#add(part, at)
    return at
  }

  test(given: string): boolean {
    const text = this.#ignoresCase ? given.toLowerCase() : given
    let current: number[] = []
    for (let at = 0; at <= text.length; at++) {
      this.#nextStep()
      const reached: number[] = []
      // A match may begin anywhere, so the first state is entered at every place.
      for (const state of current) if (this.#enter(state, at, text.length, reached)) return true
      if (this.#enter(this.#first, at, text.length, reached)) return true
      const unit = text.charCodeAt(at)
      current = []
      for (const index of reached) {
        const state = this.#states[index]
        if (state?.kind === 'units' && at < text.length && this.#holds(state.ranges, unit))
          current.push(state.next)
      }
    }
    return false
  }

  #nextStep(): void {
    if (++this.#step < 0xffff_ffff) return
    this.#marks.fill(0)
    this.#step = 1
  }

  /** Follows all that needs no character. @returns whether the end of the expression is reached */
  #enter(first: number, at: number, length: number, reached: number[]): boolean {
    const open = [first]
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (this.#marks[index] === this.#step) continue
      this.#marks[index] = this.#step
      const state = this.#states[index]
      if (state === undefined) continue
      if (state.kind === 'match') return true
      if (state.kind === 'units') reached.push(index)
      else if (state.kind === 'fork') open.push(state.next, state.other)
      else if (state.kind === 'start' ? at === 0 : at === length) open.push(state.next)
    }
    return false
  }

  #holds(ranges: Ranges, unit: number): boolean {
    for (const [low, high] of ranges) if (unit >= low && unit <= high) return true
    if (!this.#ignoresCase || unit < 97 || unit > 122) return false
    for (const [low, high] of ranges) if (unit - 32 >= low && unit - 32 <= high) return true
    return false
  }
}
