/** All documents that a search found, in no order, and how many hits they are once copies are folded. */
import type { Attributes } from './attributes.ts'

/** Those that are one hit each, whatever is folded, and the others. */
type Parted = { single: Uint32Array; others: readonly number[] }

export class Matches {
  readonly #attributes: Attributes
  readonly #passes: ((docno: number) => boolean) | null
  readonly #isFolding: boolean
  #docnos = new Uint32Array(256)
  #size = 0
  #parted: Parted | null = null

  /** @param passes the filters, which a document may pass by an exact copy of it alone */
  constructor(
    attributes: Attributes,
    passes: ((docno: number) => boolean) | null,
    isFolding: boolean,
  ) {
    this.#attributes = attributes
    this.#passes = passes
    this.#isFolding = isFolding
  }

  /** Documents with postings of their own. */
  get documents(): number {
    return this.#size
  }

  clear(): void {
    this.#size = 0
    this.#parted = null
  }

  /** A document with postings of its own. */
  add(docno: number): void {
    if (this.#size === this.#docnos.length) {
      const wider = new Uint32Array(this.#docnos.length * 4)
      wider.set(this.#docnos)
      this.#docnos = wider
    }
    this.#docnos[this.#size++] = docno
    this.#parted = null
  }

  /** Once for all that is counted: whether a page has copies is looked up in maps. */
  #parts(): Parted {
    if (this.#parted !== null) return this.#parted
    const attributes = this.#attributes
    const single = new Uint32Array(this.#size)
    const others: number[] = []
    let count = 0
    for (let i = 0; i < this.#size; i += 1) {
      const docno = this.#docnos[i] as number
      if (!attributes.mayHaveCopies(docno)) {
        single[count++] = docno
        continue
      }
      const isFolded = this.#isFolding && attributes.hasCopies(attributes.foldKey(docno))
      if (isFolded || attributes.copiesOf(docno).length > 0) others.push(docno)
      else single[count++] = docno
    }
    this.#parted = { single: single.subarray(0, count), others }
    return this.#parted
  }

  /** The document and its exact copies, of which each is a hit when nothing is folded: those that pass the filters. */
  expanded(docno: number): readonly number[] {
    const copies = this.#attributes.copiesOf(docno)
    if (copies.length === 0) return [docno]
    const all = [docno, ...copies]
    return this.#passes === null ? all : all.filter(this.#passes)
  }

  eachMember(see: (docno: number) => void): void {
    const { single } = this.#parts()
    for (let i = 0; i < single.length; i += 1) see(single[i] as number)
    this.eachCopied(see)
  }

  /** Those that are one hit each, whatever is folded: nearly all. */
  get single(): Uint32Array {
    return this.#parts().single
  }

  /** The others, with the exact copies that stand for them. */
  eachCopied(see: (docno: number) => void): void {
    for (const docno of this.#parts().others) for (const member of this.expanded(docno)) see(member)
  }

  total(): number {
    const { single, others } = this.#parts()
    if (!this.#isFolding)
      return others.reduce((sum, docno) => sum + this.expanded(docno).length, single.length)
    const groups = new Set<number>()
    let total = single.length
    for (const docno of others) {
      const key = this.#attributes.foldKey(docno)
      if (this.#attributes.hasCopies(key)) groups.add(key)
      else total += 1
    }
    return total + groups.size
  }

  /**
   * Hits by bucket: a group counts once in each bucket that one of its members is in.
   * @param addAll what `each` comes to for documents without copies: a loop of its own is quicker than a call for each
   * @param counts where to count: zeros, `end` or more of them
   */
  count(
    end: number,
    each: (docno: number, see: (bucket: number) => void) => void,
    addAll: ((docnos: Uint32Array, counts: Uint32Array) => void) | null = null,
    counts = new Uint32Array(end),
  ): Uint32Array<ArrayBuffer> {
    const seen = new Set<number>()
    const attributes = this.#attributes
    let group = 0
    const countOne = (bucket: number): void => {
      counts[bucket] = (counts[bucket] as number) + 1
    }
    const countGroup = (bucket: number): void => {
      const key = group * end + bucket
      if (seen.has(key)) return
      seen.add(key)
      countOne(bucket)
    }
    const { single, others } = this.#parts()
    if (addAll !== null) addAll(single, counts)
    else for (let i = 0; i < single.length; i += 1) each(single[i] as number, countOne)
    for (const docno of others) {
      group = attributes.foldKey(docno)
      const see = this.#isFolding && attributes.hasCopies(group) ? countGroup : countOne
      for (const member of this.expanded(docno)) each(member, see)
    }
    return counts
  }

  /** URL numbers of all hits, copies that are folded included. */
  eachUrl(see: (urlId: number) => void): void {
    this.eachMember((docno) => see(this.#attributes.urlId(docno)))
  }
}
