/** The part of a URL's story that is told by its host and its past: what was learned, the last visits, what changed. Asks nothing of the network. */
import type { DocumentChange, UrlStory } from '../store/records.ts'
import type { UrlRow } from '../store/urls.ts'
import { readVisits } from './history.ts'
import { visitsLeft, type HostRules } from './host-rules.ts'
import { isOpenEnded } from './shape.ts'

type Line = UrlStory['lines'][number]

/** What was learned of the form of the address and of its parameters, and what becomes of it for that. */
export function learnedLines(
  url: string,
  rules: Pick<HostRules, 'describe' | 'shorten' | 'isClosed'>,
): Line[] {
  const lines: Line[] = []
  const shorter = rules.shorten(url)
  if (shorter !== url)
    lines.push({
      about: 'parameters',
      text: `known as ${shorter}: what is left out changes nothing there`,
    })
  const { key, shape, parameters } = rules.describe(url)
  for (const { name, same, differing, state } of parameters) {
    const becomes = { open: 'watched', closed: 'dropped', kept: 'kept by the operator' }[state]
    const told = `changed nothing ${same} times, something ${differing} times`
    lines.push({ about: 'parameters', text: `${name}: ${becomes}; ${told}` })
  }
  if (!isOpenEnded({ key })) return lines
  if (shape === null) {
    const text = rules.isClosed(url)
      ? `${key}: a combination of parameters that were put aside`
      : `${key}: none of this form was fetched yet`
    return [...lines, { about: 'shape', text }]
  }
  const { fetched, fresh, copies, state } = shape
  const told = `${fetched} fetched, ${fresh} brought something, ${copies} were copies`
  const becomes = {
    open: `${visitsLeft(shape)} more may bring nothing before it is put aside`,
    closed: 'put aside as a trap',
    kept: 'never put aside: the operator wants it',
  }[state]
  return [...lines, { about: 'shape', text: `${key}: ${told}; ${becomes}` }]
}

/** The visits that are remembered, newest first; the last one of all where none is. */
export function visitLines(row: UrlRow): Line[] {
  const visits = readVisits(row.history).toReversed()
  if (visits.length === 0) {
    if (row.fetchedAtMs === null) return []
    const status = row.status === null || row.status === 0 ? '' : ` with status ${row.status}`
    return [{ about: 'visited', text: `${isoTime(row.fetchedAtMs)}${status}` }]
  }
  return visits.map(({ atMs, status, outcome, isChanged }, i) => {
    const answer = status === 0 ? 'no answer' : `status ${status}`
    const isRead = outcome === 'stored' || outcome === 'duplicate' || outcome === 'listed'
    // The oldest one that is known had nothing to be compared with.
    const change = !isRead || i === visits.length - 1 ? '' : isChanged ? ', changed' : ', as before'
    return { about: 'visited', text: `${isoTime(atMs)} ${answer}: ${outcome}${change}` }
  })
}

const percent = (share: number): string => `${Math.round(share * 100)} %`

export const changeLines = (changes: readonly DocumentChange[]): Line[] =>
  changes.map(({ at, title_before, characters_before, characters, similarity }) => {
    const title = title_before === null ? '' : `; the title was "${title_before}"`
    const text = `${at} from ${characters_before} to ${characters} characters, ${percent(similarity)} of the text in the same lines${title}`
    return { about: 'changed', text }
  })

export const isoTime = (ms: number): string => new Date(ms).toISOString()
