/** Word lists meet a page: its parts are judged before anything is made of them, so that nothing of a masked word reaches index or store. */
import type { FoundWord, WordJudge } from '../text/judge-words.ts'
import type { Content } from './extract.ts'
import type { ParsedPage } from './page.ts'

/** The field that tells which flag-lists a page is on: `flag:NAME` finds it. */
export const flagField = 'flag'

/** What is said of a page without its text, and fields by name. */
type Said = { title: string; description: string; author: string; headings: string }

export function judgeContent(content: Content, judge: WordJudge | null): Content {
  if (judge === null) return content
  return {
    ...content,
    ...judgeSaid(content, judge),
    text: judge.read('text', content.text),
    rest: judge.read('rest', content.rest),
    // A part of the rest.
    doubtful: judge.mask(content.doubtful),
  }
}

/** Headings are lines of the text, which was counted. */
export const judgeSaid = (
  { title, description, author, headings }: Said,
  judge: WordJudge,
): Said => ({
  title: judge.read('title', title),
  description: judge.read('description', description),
  author: judge.read('author', author),
  headings: judge.mask(headings),
})

/** Fields judged, and what was found noted. */
export function judgePage(page: ParsedPage, judge: WordJudge | null): ParsedPage {
  if (judge === null) return page
  const fields = judgeFields(page.fields, judge)
  const words = judge.found()
  return {
    ...page,
    fields: withFlags(fields, words, []),
    ...(words.length > 0 ? { words } : {}),
    ...(judge.isDropped() ? { isFiltered: true as const } : {}),
  }
}

export function judgeFields<Value>(
  fields: Readonly<Record<string, Value>>,
  judge: WordJudge,
): Record<string, Value> {
  const judged = (name: string, value: unknown): unknown => {
    if (typeof value === 'string') return judge.read(`field ${name}`, value)
    return Array.isArray(value) ? value.map((item) => judged(name, item)) : value
  }
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, judged(name, value) as Value]),
  )
}

/** Fields as they will be stored; what is found in them is not counted. */
export const maskFields = <Value>(
  fields: Readonly<Record<string, Value>>,
  judge: WordJudge | null,
): Readonly<Record<string, Value>> =>
  judge === null ? fields : judgeFields(fields, { ...judge, read: (_, text) => judge.mask(text) })

/**
 * The fields with the flags of `words`, and without those of `before` that are no longer among them. A flag that the page's own rule gave
 * stays.
 */
export function withFlags<Value>(
  fields: Readonly<Record<string, Value>>,
  words: readonly FoundWord[],
  before: readonly { list: string; policy: string }[],
): Record<string, Value | readonly string[]> {
  const flagsOf = (some: readonly { list: string; policy: string }[]): string[] => [
    ...new Set(some.filter(({ policy }) => policy === 'flag').map(({ list }) => list)),
  ]
  const [now, old] = [flagsOf(words), flagsOf(before)]
  if (now.length + old.length === 0) return { ...fields }
  const { [flagField]: given, ...others } = fields
  const own = (Array.isArray(given) ? given : given === undefined ? [] : [given]).map(String)
  const flags = [...new Set([...own.filter((flag) => !old.includes(flag)), ...now])]
  return flags.length === 0 ? others : { ...others, [flagField]: flags }
}
