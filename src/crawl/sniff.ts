/** What a body is, by its label and its first bytes: a page to read, or not. Knows no charset beyond what tells text from binary. */

export type SniffedType = 'html' | 'text' | 'binary'

/** Bytes that are looked at. */
const sniffBytes = 1024

/** Controls that no text holds (WHATWG MIME Sniffing: binary data bytes; ESC is used by ISO-2022-JP). */
const isControl = (byte: number): boolean =>
  byte < 9 || byte === 11 || (byte > 13 && byte < 32 && byte !== 27)
/** A stray NUL or two happens in real pages; binary has many. */
const controlShareMax = 0.02

/** %PDF, PNG, GIF, JPEG, ZIP, gzip, RAR, 7z, ELF, RIFF, OLE, Ogg, fonts, bzip2, xz, zstd, "MZ". */
const binaryMarks = `
  25504446 89504e47 47494638 ffd8ff 504b0304 1f8b 52617221 377abcaf 7f454c46 52494646 d0cf11e0 4f676753
  774f4632 774f4646 425a68 fd377a58 28b52ffd 4d5a9000 00000100 494433`
  .trim()
  .split(/\s+/)

const htmlMark =
  /<(!doctype\s+html|html|head|body|title|meta|script|style|link|div|p|h[1-6]|a|table|br|ul|ol|img|span|form|article|section|main|nav|header|frameset|!--)[\s>/]|<!--/i

/** Two or four bytes a character: any of them may look like a control. */
const wideCharset = /;\s*charset="?\s*(?:utf-?(?:16|32)|ucs-?[24]|unicode)/i

/**
 * Judges the first `sniffBytes` decoded bytes. Empty counts as text.
 * @param isWide the label says that characters are of two or four bytes
 */
export function sniff(bytes: Uint8Array, isWide = false): SniffedType {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, sniffBytes))
  const hex = head.toString('hex', 0, 4)
  if (binaryMarks.some((mark) => hex.startsWith(mark))) return 'binary'
  let controls = 0
  let evenZeros = 0
  let oddZeros = 0
  for (let i = 0; i < head.length; i++) {
    const byte = head[i] ?? 0
    if (byte >= 32 || !isControl(byte)) continue
    controls += 1
    if (byte === 0 && i % 2 === 0) evenZeros += 1
    else if (byte === 0) oddZeros += 1
  }
  // UTF-16 says so by its mark, or shows by every other byte of western text being zero.
  const isUtf16 =
    isWide ||
    hex.startsWith('fffe') ||
    hex.startsWith('feff') ||
    (Math.max(evenZeros, oddZeros) > head.length * 0.4 && Math.min(evenZeros, oddZeros) === 0)
  if (!isUtf16 && controls > head.length * controlShareMax) return 'binary'
  return htmlMark.test(head.toString('latin1').replaceAll('\0', '')) ? 'html' : 'text'
}

const markdownTypes = new Set(['text/markdown', 'text/x-markdown'])
const pdfTypes = new Set(['application/pdf', 'application/x-pdf'])
const pageTypes = new Set([
  'text/html',
  'application/xhtml+xml',
  'text/plain',
  ...markdownTypes,
  ...pdfTypes,
])
/** Labels that servers give when they know nothing. */
const vagueTypes = new Set(['', 'unknown/unknown', 'application/unknown', '*/*', 'text/*'])
/** Perhaps a page under a technical label. */
const doubtfulTypes = new Set([
  'application/octet-stream',
  'text/xml',
  'application/xml',
  'content/unknown',
  // HTML under names of its own, of the language that made it, or of a download.
  'text/htm',
  'text/x-html',
  'application/html',
  'application/x-html',
  'application/vnd.wap.xhtml+xml',
  'text/x-server-parsed-html',
  'text/php',
  'text/x-php',
  'application/php',
  'application/x-php',
  'application/x-httpd-php',
  'application/binary',
  'binary/octet-stream',
  'application/x-unknown',
  'application/x-unknown-content-type',
  'application/force-download',
])

/** The media type in lower case without parameters; '' for what is none. */
export function mediaType(contentType: string): string {
  const type = (contentType.split(/[;,]/, 1)[0] ?? '').trim().toLowerCase()
  return /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+$/.test(type) ? type : ''
}

/** By its label alone, may this be a page? What cannot be is not even downloaded. */
export function mayBePage(contentType: string): boolean {
  const type = mediaType(contentType)
  return pageTypes.has(type) || vagueTypes.has(type) || doubtfulTypes.has(type)
}

/** Its first bytes say so (ISO 32000-1, 7.5.2; some writers put a few bytes before), and its label does not deny it. */
export function isPdf(contentType: string, head: Uint8Array): boolean {
  const type = mediaType(contentType)
  const mayBe = pdfTypes.has(type) || vagueTypes.has(type) || doubtfulTypes.has(type)
  return mayBe && Buffer.from(head.subarray(0, sniffBytes)).includes('%PDF-')
}

/** By its label, or by its name where the label is one that any text has. */
export function isMarkdown(contentType: string, url: string): boolean {
  const type = mediaType(contentType)
  if (markdownTypes.has(type)) return true
  return !type.endsWith('html') && /\.(md|markdown)$/i.test(url.split(/[?#]/, 1)[0] ?? '')
}

/** By label and bytes, is it HTML, XHTML, plain text, Markdown or PDF? */
export function isPage(contentType: string, head: Uint8Array): boolean {
  const type = mediaType(contentType)
  if (isPdf(contentType, head)) return true
  if (pdfTypes.has(type)) return false
  const sniffed = sniff(head, wideCharset.test(contentType))
  if (sniffed === 'binary') return false
  return (
    pageTypes.has(type) || vagueTypes.has(type) || (doubtfulTypes.has(type) && sniffed === 'html')
  )
}
