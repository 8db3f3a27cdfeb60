/** Reads one file of a word list: one word a line. A mistake is told with its line; the lines around it hold. Opens no file. */
import { normalWord, policies, type WordList, type WordPolicy, wordUnitsMax } from './word-list.ts'
import { isOfSpacedWord, normalUnits } from './word-symbols.ts'

export const listBytesMax = 8 * 1_024 * 1_024
/** Over all lists. */
export const wordsMax = 100_000
export const listsMax = 100
const problemsMax = 20
const policyLine = /^policy\s*[:=]\s*(\S*)\s*$/i

export type WordFile = {
  /** null where nothing says what a hit is to do. */
  list: WordList | null
  /** "line 3: ..." */
  problems: string[]
}

/**
 * `NAME.POLICY.txt` or `POLICY.txt`; or a line `policy: POLICY` before the first word. `#` begins a comment, `!word` is allowed.
 * @param bytes UTF-8, else GB18030
 * @param units as normalUnits makes them
 */
export function readWordFile(bytes: Uint8Array, file: string, units = normalUnits()): WordFile {
  const problems: string[] = []
  let policy = policyOfName(file)
  const words = new Set<string>()
  const allowed = new Set<string>()
  const wrong = (line: number, what: string): void => {
    if (problems.length < problemsMax) problems.push(`line ${line}: ${what}`)
    else if (problems.length === problemsMax) problems.push('and more lines')
  }
  if (bytes.byteLength > listBytesMax)
    return { list: null, problems: [`larger than ${listBytesMax / 1_048_576} MB`] }
  for (const [i, raw] of decode(bytes)
    .split(/\r\n|\r|\n/)
    .entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const named = policyLine.exec(line)
    if (named !== null && words.size + allowed.size === 0) {
      const wanted = policies.find((one) => one === named[1]?.toLowerCase())
      if (wanted === undefined)
        wrong(i + 1, `there is no policy "${named[1]}": write ${policies.join(', ')}`)
      else policy = wanted
      continue
    }
    const isAllowed = line.startsWith('!')
    const word = isAllowed ? line.slice(1).trim() : line
    const problem = problemOf(normalWord(word, units))
    if (problem === null) (isAllowed ? allowed : words).add(word)
    else wrong(i + 1, `"${word.slice(0, 40)}" ${problem}`)
  }
  if (policy === null) {
    const example = `${nameOf(file)}.mask.txt`
    problems.push(
      `nothing says what a hit is to do: begin with "policy: mask", or name it ${example}`,
    )
    return { list: null, problems }
  }
  return {
    list: { name: nameOf(file), policy, words: [...words], allowed: [...allowed] },
    problems,
  }
}

function problemOf(normal: string): string | null {
  if (normal === '') return 'has no letter'
  if (normal.length > wordUnitsMax) return `is longer than ${wordUnitsMax} characters`
  if (normal.length === 1 && isOfSpacedWord(normal.charCodeAt(0)))
    return 'is a single letter, which every page has'
  return null
}

const partsOf = (file: string): string[] => file.replace(/\.txt$/i, '').split('.')

function policyOfName(file: string): WordPolicy | null {
  const last = partsOf(file).at(-1)?.toLowerCase()
  return policies.find((policy) => policy === last) ?? null
}

function nameOf(file: string): string {
  const parts = partsOf(file)
  return parts.length > 1 && policyOfName(file) !== null
    ? parts.slice(0, -1).join('.')
    : parts.join('.')
}

/** Lists for Chinese are often written in its older encoding. A byte order mark goes. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('gb18030').decode(bytes)
  }
}
