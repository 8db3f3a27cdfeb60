/** Where something stands in a JSON or TOML text that was read already: for messages to people. Approximate in TOML. */

/** The line of an offset, from 1 on. */
export const lineOfOffset = (text: string, offset: number): number =>
  text.slice(0, offset).split('\n').length

/**
 * The line where the value of a path ("a.b[1].c") is, or the nearest holder of it that is there; null where nothing is found.
 * In TOML a key is found only where it stands once in the text.
 */
export function lineOfPath(text: string, path: string, isToml: boolean): number | null {
  if (isToml) return lineInToml(text, path)
  for (let holder = path; ; holder = holder.replace(/(\.[^.[\]]+|\[\d+\]|^[^.[\]]+)$/, '')) {
    const offset = jsonOffsets(text, holder)
    if (offset !== null) return lineOfOffset(text, offset)
    if (holder === '') return null
  }
}

function lineInToml(text: string, path: string): number | null {
  const key = /([^.[\]]+)(\[\d+\])?$/.exec(path)?.[1]
  if (key === undefined) return null
  const isKey = (line: string): boolean =>
    line.split(/[^\p{L}\p{N}_-]+/u).includes(key) && /[=[]/.test(line)
  const lines = text.split('\n')
  const first = lines.findIndex(isKey)
  return first < 0 || lines.slice(first + 1).some(isKey) ? null : first + 1
}

/** Of a key its own place, of an element its value's. The text is known to be JSON. */
function jsonOffsets(text: string, wanted: string): number | null {
  let at = 0
  let found: number | null = null
  const skip = (): void => {
    while (/\s/.test(text[at] ?? '')) at++
  }
  const string = (): string => {
    const start = at++
    while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    at++
    return JSON.parse(text.slice(start, at)) as string
  }
  const members = (path: string): void => {
    at++
    for (skip(); text[at] !== '}'; skip()) {
      if (text[at] === ',') {
        at++
        continue
      }
      const keyAt = at
      const key = string()
      const own = path === '' ? key : `${path}.${key}`
      if (own === wanted) found ??= keyAt
      skip()
      at++ // the colon
      value(own)
    }
    at++
  }
  const elements = (path: string): void => {
    at++
    let i = 0
    for (skip(); text[at] !== ']'; skip()) {
      if (text[at] === ',') {
        at++
        continue
      }
      const own = `${path}[${i++}]`
      if (own === wanted) found ??= at
      value(own)
    }
    at++
  }
  const value = (path: string): void => {
    skip()
    if (text[at] === '{') members(path)
    else if (text[at] === '[') elements(path)
    else if (text[at] === '"') string()
    else while (at < text.length && !/[\s,\]}]/.test(text[at] ?? '')) at++
  }
  try {
    value('')
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return null // nested deeper than the stack goes
  }
  return wanted === '' ? 0 : found
}
