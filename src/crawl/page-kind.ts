/** What a body is: HTML, plain text, or nothing we read. By its media type and its first bytes; servers get both wrong. */

export type PageKind = 'html' | 'plain'

const headBytes = 1_024
const htmlTypes = /^(text\/html|application\/xhtml\+xml)$/
const plainTypes = /^text\/(plain|markdown|x-markdown|x-rst)$/
/** Says nothing: the bytes decide. */
const emptyTypes = /^(|\*\/\*|unknown\/unknown|application\/unknown|text\/\*)$/
const xmlTypes = /^(text\/xml|application\/xml)$/
/** Beginnings of files that are served as text/html by mistake: PDF, ZIP and office files, PNG, GIF, JPEG, gzip, ELF, Windows programs. */
const binaryStarts = [
  '%PDF-',
  'PK\u0003\u0004',
  '\u0089PNG',
  'GIF8',
  '\u00ff\u00d8\u00ff',
  '\u001f\u008b',
  '\u007fELF',
  'MZ\u0090',
]
const htmlMark =
  /<(!doctype html|html|head|title|meta|body|frameset|script|link|style|h[1-6]|p|div|table|a|br|ul|ol|font|center|iframe|img|!--)[\s>/]/i

/** null where it is no document of ours. */
export function pageKind(contentType: string, bytes: Uint8Array): PageKind | null {
  const type = (contentType.split(/[;,]/, 1)[0] ?? '').trim().toLowerCase()
  const head = Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    Math.min(bytes.length, headBytes),
  ).toString('latin1')
  if (binaryStarts.some((start) => head.startsWith(start))) return null
  if (htmlTypes.test(type)) return 'html'
  if (plainTypes.test(type)) return isBinary(head) ? null : 'plain'
  if (xmlTypes.test(type)) return /<html[\s>]/i.test(head) ? 'html' : null
  if (!emptyTypes.test(type)) return null
  if (htmlMark.test(head.replaceAll('\0', ''))) return 'html'
  return isBinary(head) ? null : 'plain'
}

/** Controls that no text holds. Zeros may be UTF-16, whose other half is not zero. */
function isBinary(head: string): boolean {
  let [zeros, controls] = [0, 0]
  for (let i = 0; i < head.length; i++) {
    const code = head.charCodeAt(i)
    if (code === 0) zeros++
    else if (code < 9 || (code > 13 && code < 27) || (code > 27 && code < 32)) controls++
  }
  const isWide = /^(\u00ff\u00fe|\u00fe\u00ff)/.test(head) || zeros > head.length * 0.3
  return controls > 0 || (zeros > 0 && !isWide)
}
