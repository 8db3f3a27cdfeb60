/** Links as the charset of their page writes them: the query of `?q=中文` on a GBK page goes out in GBK, as browsers send it (URL standard, query state). */

/** The encoders that were needed so far; there are few charsets, and each table is made once. */
const encoders = new Map<string, Encoder>()

/** By code point: one byte, or two as `lead << 8 | trail`. */
type Encoder = ReadonlyMap<number, number>

/** @param charset as `decodeText` names it; Unicode's own charsets, and those that only decode, are sent as UTF-8. */
export function withQueryIn(charset: string, href: string): string {
  const from = href.indexOf('?')
  // oxlint-disable-next-line no-control-regex -- the first of all characters
  if (from < 0 || !/[^\0-\x7f]/.test(href) || !isSent(charset)) return href
  const hash = href.indexOf('#')
  if (hash >= 0 && hash < from) return href
  const to = hash < 0 ? href.length : hash
  return href.slice(0, from) + encodeBeyondAscii(href.slice(from, to), charset) + href.slice(to)
}

/** Percent-encodes what is beyond ASCII. What the charset has not becomes a coded character reference, as in a form. */
function encodeBeyondAscii(text: string, charset: string): string {
  let encoder = encoders.get(charset)
  if (encoder === undefined) encoders.set(charset, (encoder = invert(charset)))
  // oxlint-disable-next-line no-control-regex -- the first of all characters
  return text.replace(/[^\0-\x7f]/gu, (sign) => {
    const code = sign.codePointAt(0) ?? 0
    const bytes =
      encoder.get(code) ?? (code === minusSign ? encoder.get(fullWidthMinus) : undefined)
    if (bytes === undefined) return `%26%23${code}%3B`
    const trail = escape(bytes & 0xff)
    return bytes > 0xff ? `%${(bytes >> 8).toString(16).toUpperCase()}${trail}` : trail
  })
}

/** A trail byte may be ASCII: what a query may hold stays as it is. */
const escape = (byte: number): string =>
  byte > 0x20 && byte < 0x7f && !/["#<>']/.test(String.fromCharCode(byte))
    ? String.fromCharCode(byte)
    : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`

const doubleByte = new Set(['gb18030', 'big5', 'shift_jis', 'euc-jp', 'euc-kr'])

/** The Japanese charsets have but one of these two. */
const minusSign = 0x2212
const fullWidthMinus = 0xff0d

const isSent = (charset: string): boolean =>
  doubleByte.has(charset) || /^(windows-|iso-8859-|koi8-|macintosh|x-mac-|ibm866)/.test(charset)

/** The platform only decodes: all pairs of bytes are decoded at once, those that give one character are its code. */
function invert(charset: string): Encoder {
  const encoder = new Map<number, number>()
  const decoder = new TextDecoder(charset)
  const offer = (text: string, bytes: number): void => {
    const code = text.codePointAt(0) ?? 0
    const isOne = text.length === String.fromCodePoint(code).length && code >= 0x80
    if (isOne && code !== 0xfffd && !encoder.has(code)) encoder.set(code, bytes)
  }
  for (let byte = 0x80; byte < 0x100; byte++) offer(decoder.decode(Uint8Array.of(byte)), byte)
  if (!doubleByte.has(charset)) return encoder
  for (let lead = 0x81; lead < 0xff; lead++) {
    for (let trail = 0x40; trail < 0xff; trail++)
      offer(decoder.decode(Uint8Array.of(lead, trail)), (lead << 8) | trail)
  }
  return encoder
}
