/** Reads one leaf as packer.ts wrote it: entry by entry, block by block. Knows no segment and no docno: values are what was packed. */
import { type PostingList, reserve } from './posting-list.ts'
import { readAheadBytes, readGaps, readSymbols } from './bits.ts'
import { COUNT_MASK, GIVEN, LONG, MIXED, MORE, quantOfOne, quantsByNumber } from './block.ts'
import { termCharsMax } from './codes.ts'
import { leafHeaderBytes } from './packer.ts'

/** `next` stands on a block; then either `copyTo` or `pass` goes behind it. */
export class LeafReader {
  /** Whether the block at hand is the first one of its term in this leaf. */
  isNewTerm = false
  /** Postings of the block at hand. */
  count = 0
  /** Of an opened block. */
  first = 0
  /** Of an opened block that is long. */
  last = 0
  #bytes: Uint8Array = new Uint8Array()
  #view = new DataView(this.#bytes.buffer)
  /** Behind the last entry. */
  #limit = 0
  #at = 0
  #head = 0
  /** Where the block at hand ends. */
  #end = 0
  #order = 0
  #usual = 0
  #best = 0
  #bestEnd = 0
  /** The last value of the block before in the same entry. */
  #before = 0
  #text = noText
  #textBytes = 0

  load(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#limit = bytes.length - readAheadBytes
    this.#end = leafHeaderBytes
    this.#head = 0
    this.#textBytes = 0
  }

  /** After `next`. */
  term(): string {
    return this.#text.toString('utf8', 0, this.#textBytes)
  }

  /** Its length, without making it. */
  termBytes(): number {
    return this.#textBytes
  }

  isLong(): boolean {
    return (this.#head & LONG) !== 0
  }

  /** Whether the term goes on in this leaf behind the block at hand. */
  hasMore(): boolean {
    return (this.#head & MORE) !== 0
  }

  next(): boolean {
    if (this.hasMore()) return this.nextBlock()
    this.#at = this.#end
    if (this.#at >= this.#limit) return false
    const bytes = this.#bytes
    const lengths = bytes[this.#at++] as number
    const shared = lengths >> 4
    const rest = this.#restOf(lengths)
    if (this.#text === noText) this.#text = Buffer.allocUnsafe(termCharsMax * 3)
    for (let i = 0; i < rest; i += 1) this.#text[shared + i] = bytes[this.#at + i] as number
    this.#at += rest
    this.#textBytes = shared + rest
    this.isNewTerm = true
    this.#before = 0
    this.#readHead()
    return true
  }

  /** From the first entry on: stands on the first block of the term, or says false. Most terms of a leaf are only passed over. */
  seek(term: Uint8Array): boolean {
    const bytes = this.#bytes
    const limit = this.#limit
    let at = leafHeaderBytes
    /** So many bytes of the term begin the entry at hand too. */
    let matched = 0
    while (at < limit) {
      const lengths = bytes[at++] as number
      let rest = lengths & 15
      if (rest === 15) {
        this.#at = at
        rest = 15 + this.#varint()
        at = this.#at
      }
      const shared = lengths >> 4
      // At most 15 bytes are known to be shared: then more may be.
      if (shared < matched && shared < 15) return false
      if (shared === matched || (shared === 15 && matched > 15)) {
        let i = 0
        while (i < rest && shared + i < term.length && bytes[at + i] === term[shared + i]) i += 1
        const isWhole = i === rest && shared + rest === term.length
        matched = shared + i
        if (isWhole) {
          this.#at = at + rest
          this.isNewTerm = true
          this.#before = 0
          this.#readHead()
          return true
        }
      }
      at += rest
      const head = bytes[at] as number
      if ((head & (COUNT_MASK | MORE)) === 0) {
        // One posting, as most terms have in a leaf: nothing is kept of it.
        at += (head & GIVEN) === 0 ? 1 : 2
        while ((bytes[at++] as number) > 127);
      } else at = this.#passEntry(at)
    }
    return false
  }

  /** The next block of the same entry; only where `hasMore`. */
  nextBlock(): boolean {
    this.#at = this.#end
    this.isNewTerm = false
    this.#readHead()
    return true
  }

  #passEntry(at: number): number {
    const bytes = this.#bytes
    for (;;) {
      const head = bytes[at] as number
      this.#at = at
      this.#readHead()
      at = this.#end
      if ((head & MORE) === 0) return at
    }
  }

  #restOf(lengths: number): number {
    const rest = lengths & 15
    return rest < 15 ? rest : 15 + this.#varint()
  }

  #varint(): number {
    const bytes = this.#bytes
    let byte = bytes[this.#at++] as number
    let value = byte & 127
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = bytes[this.#at++] as number
      value += (byte & 127) * unit
    }
    return value
  }

  #readHead(): void {
    const bytes = this.#bytes
    const head = bytes[this.#at++] as number
    this.#head = head
    const fewer = head & COUNT_MASK
    if (fewer === 0) {
      this.count = 1
      let end = this.#at + ((head & GIVEN) === 0 ? 0 : 1)
      while ((bytes[end++] as number) > 127);
      this.#end = end
      return
    }
    this.count = fewer < COUNT_MASK ? fewer + 1 : 16 + this.#varint()
    const size = this.#varint()
    this.#end = this.#at + size
  }

  /** Reads what the block at hand says of itself: `first`, and where it is long `last` and what it has at best. */
  open(): void {
    const bytes = this.#bytes
    const isGiven = (this.#head & GIVEN) !== 0
    if (this.count > 1) this.#order = bytes[this.#at++] as number
    this.#usual = isGiven ? (bytes[this.#at++] as number) : quantOfOne
    let span = 0
    if (this.isLong()) {
      this.#best = this.#at + 1
      this.#bestEnd = this.#best + 2 * (bytes[this.#at] as number)
      this.#at = this.#bestEnd
      span = this.#varint()
    }
    this.first = this.#before + this.#varint()
    this.last = this.first + span
  }

  /** Goes behind an opened block that is long, unread. */
  pass(): void {
    this.#before = this.last
  }

  /** The block at hand, opened, to be read later or never. `base` is added to its values. */
  block(base: number): Block {
    const { count } = this
    const isMixed = count > 1 && (this.#head & MIXED) !== 0
    return {
      view: this.#view,
      bit: this.#at * 8,
      order: this.#order,
      usual: this.#usual,
      isMixed,
      count,
      first: base + this.first,
      last: base + this.last,
      best: this.isLong() ? this.#best : this.#bestEnd,
      bestEnd: this.#bestEnd,
    }
  }

  /** Appends the opened block, `base` added to its values. */
  copyTo(list: PostingList, base: number): void {
    const from = list.count
    reserve(list, from + this.count)
    list.count = readBlock(this.block(base), list, from)
    this.last = (list.docnos[list.count - 1] as number) - base
    this.#before = this.last
  }
}

/** Where the postings of a block stand, and what they are at best. */
export type Block = {
  view: DataView
  /** Of the first gap. */
  bit: number
  order: number
  usual: number
  isMixed: boolean
  count: number
  first: number
  /** Right where the block is long; then and there only. */
  last: number
  /** Bytes best..bestEnd-1 are pairs of a quant and a length code: no posting has both a larger quant and a smaller code than one of them. None where that is not known. */
  best: number
  bestEnd: number
}

/** Puts the postings of a block into a list with room for them, from index `from` on. Returns the end. */
export function readBlock(block: Block, { docnos, quants }: PostingList, from: number): number {
  const { view, count, usual } = block
  const bit = readGaps(view, block.bit, block.order, block.first, count - 1, docnos, from)
  if (block.isMixed) readSymbols(view, bit, count, quantsByNumber, usual * 64, quants, from)
  else quants.fill(usual, from, from + count)
  return from + count
}

const noText = Buffer.alloc(0)
