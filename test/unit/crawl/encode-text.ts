/** Writes text in a legacy charset, for tests only: the platform decodes them but does not encode. */

const tables = new Map<string, Map<string, number[]>>()

/** The inverse of the platform's decoder over one and two bytes (and Unicode by arithmetic). Throws for a character it cannot write. */
export function encodeText(text: string, charset: string): Uint8Array {
  if (charset === 'utf-8') return new TextEncoder().encode(text)
  if (charset === 'utf-16le') return new Uint8Array(Buffer.from(text, 'utf16le'))
  const table = tables.get(charset) ?? inverse(charset)
  tables.set(charset, table)
  return Uint8Array.from(
    Array.from(text).flatMap((char) => {
      const bytes = table.get(char)
      if (bytes === undefined) throw new Error(`${charset} has no ${char}`)
      return bytes
    }),
  )
}

function inverse(charset: string): Map<string, number[]> {
  const decoder = new TextDecoder(charset)
  const table = new Map<string, number[]>()
  const learn = (bytes: number[]) => {
    const char = decoder.decode(Uint8Array.from(bytes))
    if (Array.from(char).length === 1 && char !== '\uFFFD' && !table.has(char))
      table.set(char, bytes)
  }
  for (let one = 0; one < 256; one++) learn([one])
  for (let lead = 0x81; lead < 0xff; lead++)
    for (let trail = 0x40; trail < 0xff; trail++) learn([lead, trail])
  return table
}
