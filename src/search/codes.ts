/** What postings are made of: terms that fit, and the codes of frequency and length. */

/** Longer tokens are noise (base64, hashes of hashes); the tokenizer cuts earlier. */
export const termCharsMax = 64
export const quantMax = 63

/** Weighted term frequency -> 0..63, steps of 9 %. */
export const quantCode = (frequency: number): number =>
  Math.min(quantMax, Math.round(8 * Math.log2(1 + frequency)))
/** What a quant stands for. */
export const frequencies = Float64Array.from({ length: 64 }, (_, q) => 2 ** (q / 8) - 1)

/** Weighted words of a document -> 1..255, steps of 4.4 %; 0 is kept for "no document". */
export const lengthCode = (length: number): number =>
  Math.max(1, Math.min(255, Math.round(16 * Math.log2(1 + length))))
/** What a length code stands for. */
export const lengths = Float64Array.from({ length: 256 }, (_, code) => 2 ** (code / 16) - 1)

/** Whether the packed form can hold a term: not empty, not too long, no line feed (it parts the directory), no lone surrogate. */
export const isPackable = (term: string): boolean =>
  term.length > 0 && term.length <= termCharsMax && !term.includes('\n') && term.isWellFormed()
