/** The charset suites: what is declared, by header, mark or document, and what undeclared bytes are. */
import {
  declaredCharset,
  decodeText,
  headerCharset,
  hintedCharset,
  resolveLabel,
} from '../../src/crawl/charset.ts'
import { decodeAs } from '../../src/crawl/charset-tables.ts'
import { bytesOf, equal, type Case, type Questions, type Verdict } from './suite.ts'

/** Python's codec names and spellings, as we call them. */
function named(name: string | null): string | null {
  if (name === null) return null
  const label = name.toLowerCase()
  const spelt: Record<string, string> = {
    cp1252: 'windows-1252',
    cp1251: 'windows-1251',
    cp949: 'euc-kr',
    utf8: 'utf-8',
    big5hkscs: 'big5',
    ascii: 'utf-8',
    'utf-16-be': 'utf-16be',
    'utf-16-le': 'utf-16le',
    'utf-32-be': 'utf-32be',
    'utf-32-le': 'utf-32le',
  }
  return spelt[label] ?? resolveLabel(label.replace(/^iso8859/, 'iso-8859')) ?? label
}

/** A mark decides before everything: what a text of nothing else would be taken for. */
function markedCharset(bytes: Uint8Array): string | null {
  const isMarked = /^(efbbbf|fffe|feff|0000feff)/.test(
    Buffer.from(bytes.subarray(0, 4)).toString('hex'),
  )
  return isMarked ? decodeText(bytes, '').charset : null
}

function declared({ b64, encoding }: Case): Verdict {
  const bytes = bytesOf({ b64 })
  const charset = markedCharset(bytes) ?? declaredCharset(bytes) ?? 'windows-1252'
  return equal(charset, encoding.toLowerCase())
}

const w3lib: Record<string, (args: Case[]) => unknown> = {
  http_content_type_encoding: ([header]) => headerCharset(header),
  resolve_encoding: ([label]) => resolveLabel(label),
  html_body_declared_encoding: ([body]) =>
    declaredCharset(bytesOf(body)) ?? hintedCharset(bytesOf(body)),
  read_bom: ([bytes]) => markedCharset(bytesOf(bytes)),
}

function askW3lib({ fn, args, result }: Case): Verdict {
  const charsetOnly = w3lib[fn]
  if (charsetOnly !== undefined)
    return equal(charsetOnly(args), named(Array.isArray(result) ? result[0] : result))
  const [header, body] = args
  const { text, charset } = decodeText(bytesOf(body), typeof header === 'string' ? header : '')
  return equal([charset, text], [named(result[0]), result[1]])
}

/**
 * Right is who reads the same text: where two charsets agree on every byte of a page (iso-8859-15 and windows-1252 without a euro
 * sign), no bytes can tell which one was meant, and nobody needs to know.
 */
function guessed({ b64, encoding }: Case): Verdict {
  const bytes = bytesOf({ b64 })
  const wanted = named(encoding) ?? ''
  const { charset, text } = decodeText(bytes, '')
  return charset === wanted || text === decodeAs(bytes, wanted) ? null : equal(charset, wanted)
}

export const charsetQuestions: Questions = {
  'charset-html5lib': declared,
  'charset-html-encoding-sniffer': declared,
  'charset-w3lib': askW3lib,
  'charset-detect-node-chardet': guessed,
}
