/** A few terms out of all, each with a slot of its own from 1 on, by the numbers of the forms that have them. Used again for each query. */
import { beginningsOf } from '../text/glance.ts'
import { numbersMax, type WordNumbers } from './word-numbers.ts'

export class TermSlots {
  readonly #numbers: WordNumbers
  /** By form: its slot and one; 0 = not looked at yet. */
  readonly #slots = new Uint16Array(numbersMax + 1)
  /** By term. */
  readonly #of = new Map<number, number>()
  #beginnings: number[][] = []

  constructor(numbers: WordNumbers) {
    this.#numbers = numbers
  }

  /** Slots and one. */
  get size(): number {
    return this.#of.size + 1
  }

  take(terms: readonly string[]): void {
    this.#slots.fill(0)
    this.#of.clear()
    this.#beginnings = beginningsOf(new Set(terms))
    for (const term of terms) {
      const number = this.#numbers.term(term)
      if (number > 0 && !this.#of.has(number)) this.#of.set(number, this.#of.size + 1)
    }
  }

  of(term: string): number {
    return this.#of.get(this.#numbers.term(term)) ?? 0
  }

  /** 0 for the form of another term. */
  ofForm(form: number): number {
    const known = this.#slots[form] as number
    if (known > 0) return known - 1
    const slot = this.#of.get(this.#numbers.termBeginning(form, this.#beginnings)) ?? 0
    this.#slots[form] = slot + 1
    return slot
  }
}
