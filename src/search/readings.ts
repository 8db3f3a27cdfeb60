/** Texts that are found by how their Chinese characters are read: whole syllables (shipin) or first letters (sp) in pinyin. */
import { readingsOf } from '../text/pinyin.ts'

export type Readable = {
  /** All syllables joined; what is no Han character stands for itself. */
  syllables: string
  /** Where in `syllables` the reading of each UTF-16 unit of the text begins. */
  starts: Uint16Array
  initials: string
  /** Units of the text that are Han characters. */
  han: Uint8Array
}

const textCharsMax = 120
export const hasHan = (text: string): boolean => /\p{Script=Han}/u.test(text)

export function readableOf(text: string): Readable {
  const shown = text.slice(0, textCharsMax)
  const starts = new Uint16Array(shown.length)
  const han = new Uint8Array(shown.length)
  let syllables = ''
  let initials = ''
  for (let i = 0; i < shown.length; i += 1) {
    const unit = shown.charAt(i)
    const reading = readingsOf(unit)[0]
    starts[i] = syllables.length
    if (reading !== undefined) han[i] = 1
    const read = reading ?? unit.toLowerCase().slice(0, 1)
    syllables += read
    initials += read.charAt(0)
  }
  return { syllables, starts, initials, han }
}

/** Letters as they are typed, without borders; null where they are no pinyin. */
export function typedReading(typed: string): string | null {
  const letters = typed
    .toLowerCase()
    .replaceAll('ü', 'v')
    .replaceAll(/[\s'’]/g, '')
  return /^[a-z]{2,40}$/.test(letters) ? letters : null
}

/** The units [start, end) of the text that are read so, from a Han character on; null where none are. The last syllable may be unfinished. */
export function findReading(readable: Readable, letters: string): [number, number] | null {
  const { syllables, starts, initials, han } = readable
  for (let at = syllables.indexOf(letters); at >= 0; at = syllables.indexOf(letters, at + 1)) {
    const start = starts.indexOf(at)
    if (start < 0 || han[start] !== 1) continue
    let end = start
    while (end < starts.length && (starts[end] as number) < at + letters.length) end += 1
    return [start, end]
  }
  for (let at = initials.indexOf(letters); at >= 0; at = initials.indexOf(letters, at + 1)) {
    const end = at + letters.length
    if (han.subarray(at, end).every((flag) => flag === 1)) return [at, end]
  }
  return null
}
