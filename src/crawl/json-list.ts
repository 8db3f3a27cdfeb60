/**
 * A small language of paths into JSON: "$.data.items[*].id". `$` the document, `.name` or `["any name"]` a member, `[0]` or `[-1]` an
 * element, `[*]` or `.*` every one, `..name` every member of that name at any depth. Never throws on data, and looks at a bounded part of it.
 */

type Step =
  | { kind: 'member' | 'deep'; name: string }
  | { kind: 'element'; index: number }
  | { kind: 'every' }
export type JsonPath = readonly Step[]

const stepsMax = 30
/** Values looked at for one path. */
const visitsMax = 1_000_000
const depthMax = 100
export const jsonMatchesMax = 5_000

const stepPattern =
  /\.\.([\p{L}_$][\p{L}\p{N}_$-]*)|\.\*|\.([\p{L}_$][\p{L}\p{N}_$-]*)|\[(-?\d{1,7})\]|\[\*\]|\[("(?:[^"\\]|\\.)*"|'[^']*')\]/uy

/** The path, or one sentence that says what is wrong with it. */
export function parseJsonPath(text: string): JsonPath | string {
  if (!text.startsWith('$')) return 'a JSON path begins with "$"'
  const steps: Step[] = []
  stepPattern.lastIndex = 1
  while (stepPattern.lastIndex < text.length) {
    const at = stepPattern.lastIndex
    const match = stepPattern.exec(text)
    if (match === null)
      return `the JSON path is not understood from character ${at + 1} on: ${text.slice(at, at + 20)}`
    if (steps.length >= stepsMax) return `a JSON path has at most ${stepsMax} steps`
    const step = stepOf(match)
    if (step === null) return `the name in ${match[0]} is no JSON text`
    steps.push(step)
  }
  return steps
}

function stepOf([whole = '', deep, member, index, quoted]: RegExpExecArray): Step | null {
  if (deep !== undefined) return { kind: 'deep', name: deep }
  if (member !== undefined) return { kind: 'member', name: member }
  if (index !== undefined) return { kind: 'element', index: Number(index) }
  if (quoted === undefined || whole.endsWith('*')) return { kind: 'every' }
  if (quoted.startsWith("'")) return { kind: 'member', name: quoted.slice(1, -1) }
  try {
    return { kind: 'member', name: String(JSON.parse(quoted)) }
  } catch {
    return null // an escape that JSON does not have
  }
}

/** All values at the path, in document order, at most 5,000. */
export function valuesAt(document: unknown, path: JsonPath): unknown[] {
  let visits = 0
  const next = (value: unknown, step: Step): unknown[] => {
    if (typeof value !== 'object' || value === null) return []
    if (step.kind === 'every') return Object.values(value)
    if (step.kind === 'element')
      return Array.isArray(value) ? present(value.at(step.index) as unknown) : []
    if (step.kind === 'member') return present(memberOf(value, step.name))
    const found: unknown[] = []
    const search = (each: unknown, depth: number): void => {
      if (typeof each !== 'object' || each === null || depth > depthMax || ++visits > visitsMax)
        return
      if (!Array.isArray(each)) found.push(...present(memberOf(each, step.name)))
      for (const child of Object.values(each)) search(child, depth + 1)
    }
    search(value, 0)
    return found
  }
  let values: unknown[] = [document]
  for (const step of path) {
    const reached: unknown[] = []
    for (const value of values) {
      for (const each of next(value, step)) if (reached.length < visitsMax) reached.push(each)
    }
    values = reached
  }
  return values.slice(0, jsonMatchesMax)
}

const present = (value: unknown): unknown[] => (value === undefined ? [] : [value])

const memberOf = (value: object, name: string): unknown =>
  Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined

/** What a value reads as: texts, numbers and truth as they are written, of lists and objects nothing. */
export const asText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : ''

/** All texts of a document, one a line, so that nothing of it is unfindable. */
export function textsOf(document: unknown, charsMax: number): string {
  const lines: string[] = []
  let chars = 0
  const walk = (value: unknown, depth: number): void => {
    if (chars > charsMax || depth > depthMax) return
    if (typeof value === 'object' && value !== null) {
      for (const each of Object.values(value)) walk(each, depth + 1)
      return
    }
    const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
    if (text === '') return
    lines.push(text)
    chars += text.length
  }
  walk(document, 0)
  return lines.join('\n').slice(0, charsMax)
}
