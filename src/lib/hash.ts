/** Small hashes for tables in memory. None is fit for secrets or for telling files apart: that takes node:crypto. */

/** Every bit of the result depends on every bit of x; a bijection of 32 bits ("lowbias32" of Chris Wellons' hash prospector). */
export function mix32(x: number): number {
  let h = Math.imul(x ^ (x >>> 16), 0x7feb352d)
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b)
  return (h ^ (h >>> 16)) >>> 0
}

/** How many of the 32 bits of x are set (Hacker's Delight, figure 5-2). */
export function bitCount32(x: number): number {
  let n = x - ((x >>> 1) & 0x55555555)
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** 64 bits of a text, as two unsigned 32-bit halves that are independent of each other. `salt` gives other texts' keys: a host's id, say. */
export function hashKey(text: string, salt = 0): [number, number] {
  let a = mix32(salt ^ 0x9e3779b9)
  let b = mix32(salt + 0x85ebca6b)
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x9e3779b1)
    a ^= a >>> 15
    b = Math.imul(b ^ unit, 0x5f356495)
    b ^= b >>> 13
  }
  return [mix32(a ^ text.length), mix32(b + text.length)]
}
