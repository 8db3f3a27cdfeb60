/** Decoding by name, with what the platform has not: three charsets of DOS, UTF-32, and the mail charsets of Korea and China. */

/** What stands for the bytes 0x80..0xff. */
const upperHalves: Readonly<Record<string, string>> = {
  ibm850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  ibm852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
  ibm855:
    'ђЂѓЃёЁєЄѕЅіІїЇјЈљЉњЊћЋќЌўЎџЏюЮъЪаАбБцЦдДеЕфФгГ«»░▒▓│┤хХиИ╣║╗╝йЙ┐└┴┬├─┼кК╚╔╩╦╠═╬¤лЛмМнНоОп┘┌█▄Пя▀ЯрРсСтТуУжЖвВьЬ№\u00adыЫзЗшШэЭщЩчЧ§■\u00a0',
}
/** Names that the platform gives no decoder, as others call them. */
const otherNames: Readonly<Record<string, string>> = {
  cp850: 'ibm850',
  cp852: 'ibm852',
  cp855: 'ibm855',
  'utf-32': 'utf-32be',
  'utf-32-be': 'utf-32be',
  'utf-32-le': 'utf-32le',
  csiso2022kr: 'iso-2022-kr',
}
const ownCharsets = new Set([
  ...Object.keys(upperHalves),
  'utf-32be',
  'utf-32le',
  'iso-2022-kr',
  'iso-2022-cn',
])

/** Our name of a charset that the platform cannot decode but we can; null for every other label. Labels are in lower case. */
export function ownCharset(label: string): string | null {
  const name = otherNames[label] ?? label
  return ownCharsets.has(name) ? name : null
}

/** Decodes with replacement characters. @param charset a name of the platform or of ours. */
export function decodeAs(bytes: Uint8Array, charset: string): string {
  const upper = upperHalves[charset]
  if (upper !== undefined) return decodeUpper(bytes, upper)
  if (charset === 'utf-32be' || charset === 'utf-32le') return decodeUtf32(bytes, charset)
  if (charset === 'iso-2022-kr') return decodeShifted(bytes, 'euc-kr')
  if (charset === 'iso-2022-cn') return decodeShifted(bytes, 'gb18030')
  return new TextDecoder(charset).decode(bytes)
}

function decodeUpper(bytes: Uint8Array, upper: string): string {
  const ascii = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  return ascii.replace(/[\x80-\xff]/g, (sign) => upper[sign.charCodeAt(0) - 128] ?? '\ufffd')
}

/** The mark at the beginning is no part of the text. A tail of less than four bytes is one damaged character. */
function decodeUtf32(bytes: Uint8Array, charset: string): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const whole = bytes.length & ~3
  const pieces: string[] = []
  for (let at = 0; at < whole; at += 4) {
    const code = view.getUint32(at, charset === 'utf-32le')
    if (at === 0 && code === 0xfeff) continue
    const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    pieces.push(isCharacter ? String.fromCodePoint(code) : '\ufffd')
  }
  return pieces.join('') + (whole < bytes.length ? '\ufffd' : '')
}

/**
 * ISO-2022-KR (RFC 1557) and -CN (RFC 1922): between SO and SI two bytes of seven bits are a character, which the 8-bit charset of the
 * same set writes with the high bits on. Escapes that announce a set are left out; a line feed ends a shift.
 */
function decodeShifted(bytes: Uint8Array, charset: string): string {
  const raised = new Uint8Array(bytes.length)
  let length = 0
  let isShifted = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === 0x1b && bytes[at + 1] === 0x24) at += 3
    else if (byte === 0x0e) isShifted = true
    else if (byte === 0x0f) isShifted = false
    else {
      if (byte === 0x0a) isShifted = false
      raised[length++] = isShifted && byte > 0x20 && byte < 0x7f ? byte | 0x80 : byte
    }
  }
  return new TextDecoder(charset).decode(raised.subarray(0, length))
}
