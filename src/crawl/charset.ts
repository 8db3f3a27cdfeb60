/** From bytes to text: byte order mark > Content-Type header > meta > guess, each of them proved on the bytes. Knows no HTML but the meta prescan. */
import { guessCharset, isMostlyUtf8, utf16ByZeros, utf32ByZeros } from './charset-guess.ts'
import { decodeAs, ownCharset } from './charset-tables.ts'

export type DecodedText = {
  text: string
  /** The WHATWG name of the encoding that was used, lower case. */
  charset: string
  /** False where the name was guessed, or where nothing fitted and damage had to be accepted. */
  certain: boolean
}

/** The standard's prescan length; a declaration behind it is read too, up to the second limit, as browsers do while parsing. */
const prescanBytes = 1_024
const latePrescanBytes = 65_536
/** Of the characters that are not ASCII, this share may be damaged before a declared charset is doubted: cut titles, pasted bytes. */
const damagedShareMax = 0.02
/** A Content-Type header longer than this is not one. */
const contentTypeCharsMax = 256

/**
 * Decodes a body. A declaration is a claim, not a proof: what does not decode is passed over, an unknown label is ignored,
 * and text that can only be UTF-8 is UTF-8 whatever the header says (servers add a default label to files they never read).
 * Never throws.
 */
export function decodeText(bytes: Uint8Array, contentType: string): DecodedText {
  const marked = byteOrderMark(bytes)
  if (marked !== null) return { text: decodeAs(bytes, marked), charset: marked, certain: true }
  const header = headerCharset(contentType)
  const mayBeWide = header === null || /^utf-(16|32)/.test(header)
  const wide = mayBeWide ? (utf32ByZeros(bytes) ?? utf16ByZeros(bytes)) : null
  if (wide !== null) return { text: decodeAs(bytes, wide), charset: wide, certain: true }
  const first = header ?? prescan(latin1(bytes, prescanBytes))
  if (first === 'utf-8' || hasUtf8Sequences(bytes)) {
    const text = decodeStrictly(bytes, 'utf-8')
    if (text !== null) return { text, charset: 'utf-8', certain: true }
    if (isMostlyUtf8(bytes, damagedShareMax))
      return { text: decodeAs(bytes, 'utf-8'), charset: 'utf-8', certain: true }
  }
  let least: DecodedText | null = null
  let leastDamage = Infinity
  for (const charset of claimsOf(header, bytes)) {
    const { text, damage } = decodeJudged(bytes, charset)
    if (damage <= damagedShareMax && !isBetrayedByRuns(bytes, charset))
      return { text, charset, certain: true }
    if (damage < leastDamage) [least, leastDamage] = [{ text, charset, certain: false }, damage]
  }
  const guess = guessCharset(bytes)
  if (least !== null && !guess.confident) return least
  return { text: decodeAs(bytes, guess.charset), charset: guess.charset, certain: guess.confident }
}

/** The charset parameter of a Content-Type header (RFC 9110: no blanks around `=`, double quotes only), resolved; null where absent or unknown. */
export function headerCharset(contentType: string): string | null {
  const header = contentType.slice(0, contentTypeCharsMax)
  const parameter = /([^\s;,="]+)=(?:"([^"]*)"|([^;,"\s]*))(?=\s*(?:[;,]|$))/g
  for (const [, name, quoted, plain] of header.matchAll(parameter)) {
    if (name?.toLowerCase() !== 'charset') continue
    const charset = resolveLabel(quoted ?? plain ?? '')
    if (charset !== null) return charset
  }
  return null
}

/** What the document itself declares by the standard's rules, first within 1,024 bytes, then later; null where it says nothing. */
export function declaredCharset(bytes: Uint8Array): string | null {
  return (
    prescan(latin1(bytes, prescanBytes)) ??
    (bytes.length > prescanBytes ? prescan(latin1(bytes, latePrescanBytes)) : null)
  )
}

/** A misspelt declaration (`<meta httpequiv="ContentType" content="text/html; charset=gbk">`): a hint that only its bytes can confirm. */
export function hintedCharset(bytes: Uint8Array): string | null {
  return anyMetaCharset(splitBody(bytes).head)
}

/** A declaration that stands in the body, where none belongs: browsers take it, so it is worth a trial. */
const strayCharset = (bytes: Uint8Array): string | null => anyMetaCharset(splitBody(bytes).body)

function splitBody(bytes: Uint8Array): { head: string; body: string } {
  const text = latin1(bytes, latePrescanBytes).replace(/<!--[^]*?(?:-->|$)/g, '')
  const at = text.search(/<body[\s/>]/i)
  return at < 0 ? { head: text, body: '' } : { head: text.slice(0, at), body: text.slice(at) }
}

function anyMetaCharset(head: string): string | null {
  const anyMeta = /<\s{0,20}meta[^<>]{0,500}?charset\s{0,20}=\s{0,20}["']?\s{0,20}([\w:.-]{1,40})/gi
  for (const [, label] of head.matchAll(anyMeta)) {
    const charset = metaLabel(label ?? '')
    if (charset !== null) return charset
  }
  return null
}

/** The WHATWG name for a label, with the Chinese families widened to gb18030; null for labels the platform does not know. */
export function resolveLabel(label: string): string | null {
  const name = label.trim().toLowerCase()
  if (name === '' || name.length > 40) return null
  if (/^latin-[1-8]$/.test(name)) return resolveLabel(name.replace('-', ''))
  try {
    const { encoding } = new TextDecoder(name)
    return encoding === 'gbk' || encoding === 'gb2312' ? 'gb18030' : encoding
  } catch {
    return ownCharset(name) // an unknown label is no label
  }
}

function byteOrderMark(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (hasUtf32Mark(bytes)) return bytes[0] === 0 ? 'utf-32be' : 'utf-32le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return null
}

/** 00 00 FE FF or FF FE 00 00: a text of UTF-16 that begins with NUL is unheard of. */
function hasUtf32Mark(bytes: Uint8Array): boolean {
  const mark = bytes.subarray(0, 4).join()
  return mark === '0,0,254,255' || mark === '255,254,0,0'
}

/** In a meta element UTF-16 can only be a mistake: these bytes were read as ASCII. */
function metaLabel(label: string): string | null {
  const charset = resolveLabel(label)
  if (/^utf-(16|32)/.test(charset ?? '')) return 'utf-8'
  return charset === 'x-user-defined' ? 'windows-1252' : charset
}

/** What is said about the charset, weaker and weaker, each name once; the document is searched only as far as asked. */
function* claimsOf(header: string | null, bytes: Uint8Array): Generator<string> {
  if (header !== null) yield header
  const declared = declaredCharset(bytes)
  if (declared !== null && declared !== header) yield declared
  const hinted = hintedCharset(bytes)
  if (hinted !== null && hinted !== declared && hinted !== header) yield hinted
  const stray = strayCharset(bytes)
  if (stray !== null && stray !== declared && stray !== header && stray !== hinted) yield stray
}

function decodeStrictly(bytes: Uint8Array, charset: string): string | null {
  if (ownCharset(charset) !== null) {
    const text = decodeAs(bytes, charset)
    return text.includes('\uFFFD') ? null : text
  }
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    return null // the bytes are not of this charset
  }
}

/** The text, and which share of its characters beyond ASCII did not decode. A character cut at the very end is no damage. */
function decodeJudged(bytes: Uint8Array, charset: string): { text: string; damage: number } {
  const strict = decodeStrictly(bytes, charset)
  if (strict !== null) return { text: strict, damage: 0 }
  const text = decodeAs(bytes, charset)
  let damaged = text.match(/\uFFFD/g)?.length ?? 0
  if (text.endsWith('\uFFFD')) damaged--
  const beyondAscii = text.match(/[^\0-\x7f]/g)?.length ?? 0
  return { text, damage: beyondAscii === 0 ? 0 : damaged / beyondAscii }
}

/** So many leading bytes of UTF-8 sequences that, if all of the bytes are valid, no other charset is meant. */
function hasUtf8Sequences(bytes: Uint8Array): boolean {
  let [pairs, longer] = [0, 0]
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (byte < 0xc2) continue
    if (byte >= 0xe0) longer++
    else pairs++
    if (longer >= 3 || pairs >= 6) return true
  }
  return false
}

/** windows-1252 decodes anything, and servers name it by default: bytes beyond ASCII that stand in long runs are some other script. */
function isBetrayedByRuns(bytes: Uint8Array, charset: string): boolean {
  if (charset !== 'windows-1252') return false
  let [high, inRuns] = [0, 0]
  for (let i = 1; i < bytes.length; i++) {
    if ((bytes[i] ?? 0) < 0x80) continue
    high++
    if ((bytes[i - 1] ?? 0) >= 0x80) inRuns++
  }
  return high >= 16 && inRuns > high * 0.4 && guessCharset(bytes).confident
}

const latin1 = (bytes: Uint8Array, max: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, max)).toString('latin1')

/**
 * "Prescan a byte stream to determine its encoding" of the HTML standard, on bytes read as characters; but the body declares nothing. The
 * standard's prescan reads scripts too, and its parser changes over when it comes to a real declaration: so those come first.
 */
const prescan = (head: string): string | null =>
  /<(?:script|style)/i.test(head) ? (scan(head, true) ?? scan(head, false)) : scan(head, false)

function scan(head: string, skipsScripts: boolean): string | null {
  const xml = /^<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([^"']{1,40})["']/.exec(head)
  if (xml?.[1] !== undefined) return metaLabel(xml[1])
  let at = 0
  while ((at = head.indexOf('<', at)) >= 0) {
    if (head.startsWith('<!--', at)) {
      const end = head.indexOf('-->', at + 2)
      if (end < 0) return null
      at = end + 3
    } else if (/^<\/?[a-z]/i.test(head.slice(at, at + 3))) {
      if (/^<body[\s/>]/i.test(head.slice(at, at + 6))) return null
      const isMeta = /^<meta[\s/]/i.test(head.slice(at, at + 6))
      const tag = readTag(head, isMeta ? at + 5 : skipName(head, at + 1))
      if (tag === null) return null
      const charset = isMeta ? metaCharset(tag.attributes) : null
      if (charset !== null) return charset
      at = skipsScripts ? afterRawText(head, at, tag.end) : tag.end
    } else if (/^<[!/?]/.test(head.slice(at, at + 2))) {
      const end = head.indexOf('>', at)
      if (end < 0) return null
      at = end + 1
    } else at++
  }
  return null
}

/** Where what a script or style element holds has ended; `to` for others. */
function afterRawText(head: string, from: number, to: number): number {
  const name = /^<(script|style)[\s/>]/i.exec(head.slice(from, from + 8))?.[1]
  if (name === undefined) return to
  const end = head.slice(to).search(new RegExp(`</${name}[\\s/>]`, 'i'))
  return end < 0 ? head.length : to + end
}

function metaCharset(attributes: ReadonlyMap<string, string>): string | null {
  const charset = attributes.get('charset')
  if (charset !== undefined) return metaLabel(charset)
  if (attributes.get('http-equiv')?.toLowerCase() !== 'content-type') return null
  const content = /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^"'\s;][^\s;]*))/i.exec(
    attributes.get('content') ?? '',
  )
  return content === null ? null : metaLabel(content[1] ?? content[2] ?? content[3] ?? '')
}

function skipName(head: string, from: number): number {
  let at = from
  while (at < head.length && !/[\s>]/.test(head[at] ?? '>')) at++
  return at
}

/** "Get an attribute" until the tag ends; null where the bytes end first. Of two attributes of one name the first counts. */
function readTag(
  head: string,
  from: number,
): { attributes: ReadonlyMap<string, string>; end: number } | null {
  const attributes = new Map<string, string>()
  const attribute =
    /[\s/]*(?:(>)|(=?[^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(?!["'])([^\s>]*)(?=[\s>])))?)/gy
  attribute.lastIndex = from
  for (;;) {
    const start = attribute.lastIndex
    const match = attribute.exec(head)
    if (match === null || attribute.lastIndex >= head.length + (match[1] === '>' ? 1 : 0))
      return null
    if (match[1] === '>') return { attributes, end: attribute.lastIndex }
    if (attribute.lastIndex === start) return null // an unterminated quote: the bytes end inside it
    const name = (match[2] ?? '').toLowerCase()
    if (!attributes.has(name)) attributes.set(name, match[3] ?? match[4] ?? match[5] ?? '')
  }
}
