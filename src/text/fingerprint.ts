/** What a page is recognised by: digest, SimHash, anchors and sketch of its main text. */

/** All of it is made with the database's seed, so nobody outside can aim at a page. */
export type Fingerprint = {
  /** 128-bit keyed digest of the token sequence. */
  digest: Uint8Array<ArrayBuffer>
  /** SimHash, upper and lower 32 bits, unsigned. */
  simHi: number
  simLo: number
  /** Smallest hashes of 4-word / 6-ideograph runs, ascending, at most 8. */
  anchors: Uint32Array<ArrayBuffer>
  /** One-permutation MinHash of shingles (128 bytes) and numbers (16 bytes), 4 bits a bin. */
  sketch: Uint8Array<ArrayBuffer>
  tokens: number
  /** How many different numbers, and an order-free 32-bit sum of them. */
  figures: number
  numbers: number
}
