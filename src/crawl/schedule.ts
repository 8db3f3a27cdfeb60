/** When a URL is visited again: from what its last visits showed, what lists say of it, and what its source wishes. Pure. */
import type { PastVisit } from './history.ts'

/** How a source wants its pages kept fresh. */
export type RevisitPolicy = {
  /** fixed: every `intervalMs`. adaptive: by how often the page was seen to change, from `intervalMs` on. */
  kind: 'fixed' | 'adaptive'
  intervalMs: number
  intervalMinMs: number
  intervalMaxMs: number
}

/** The last visit that reached an answer is the last of `history`. */
export type RevisitFacts = {
  history: readonly PastVisit[]
  nowMs: number
  /** What the newest list says of the last change. */
  lastmodMs?: number | null
}

const dayMs = 86_400_000
/** Aims at this share of visits that find a change: 1 would be late too often, less asks in vain. */
const changesWanted = 0.5
/** A list that named a change this often in a row where there was none is not believed. */
const falseAlarmsMax = 2

/**
 * Time of the next visit. Adaptive: the interval in which a change is as likely as not, by the rate of Cho and Garcia-Molina
 * ("Estimating frequency of change", 2003): r = -ln((n - X + 0.5) / (n + 0.5)) over the mean gap of n visits, X of which found a change.
 */
export function nextVisit({ history, nowMs }: RevisitFacts, policy: RevisitPolicy): number {
  if (policy.kind === 'fixed') return nowMs + policy.intervalMs
  const seen = history.filter(({ outcome }) => hasContent.has(outcome))
  const gaps = seen.slice(1).map(({ atMs }, i) => atMs - (seen[i]?.atMs ?? atMs))
  const meanGapMs = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
  // Nothing to compare with yet, or visits so close that they tell nothing.
  if (gaps.length === 0 || meanGapMs < 1_000) return nowMs + within(policy, policy.intervalMs)
  const changes = seen.slice(1).filter(({ isChanged }) => isChanged).length
  const n = gaps.length
  const rate = -Math.log((n - changes + 0.5) / (n + 0.5))
  if (rate === 0) return nowMs + within(policy, meanGapMs * 2)
  const intervalMs = (-Math.log(1 - changesWanted) / rate) * meanGapMs
  // One visit says little: never more than twice or less than half of the gap before.
  const lastGapMs = gaps.at(-1) ?? meanGapMs
  return nowMs + within(policy, Math.min(2 * lastGapMs, Math.max(lastGapMs / 2, intervalMs)))
}

const hasContent: ReadonlySet<string> = new Set(['stored', 'duplicate', 'unchanged', 'listed'])

const within = ({ intervalMinMs, intervalMaxMs }: RevisitPolicy, ms: number): number =>
  Math.round(Math.min(intervalMaxMs, Math.max(intervalMinMs, ms)))

/**
 * A list says that the page changed at `lastmodMs`: is it to be visited now? Only after its last visit, not twice within the shortest
 * interval, and not where the list was wrong before.
 */
export function isDueByList(
  lastmodMs: number,
  { history, nowMs }: RevisitFacts,
  { intervalMinMs }: Pick<RevisitPolicy, 'intervalMinMs'>,
): boolean {
  const last = history.at(-1)
  if (last === undefined) return false
  // A day without a time: it may have changed at its end.
  const changedMs = lastmodMs % dayMs === 0 ? lastmodMs + dayMs - 1 : lastmodMs
  if (changedMs <= last.atMs || lastmodMs > nowMs + dayMs) return false
  if (nowMs - last.atMs < intervalMinMs) return false
  const latest = history.slice(-falseAlarmsMax)
  return latest.length < falseAlarmsMax || latest.some(({ isChanged }) => isChanged)
    ? true
    : nowMs - last.atMs >= 7 * dayMs
}

/** A page that answers 404 is looked for once more before it leaves the index; one that says 410 is gone. */
export function isGoneForGood(
  status: number,
  history: readonly PastVisit[],
  nowMs: number,
  confirmMs: number,
): boolean {
  if (status === 410) return true
  const lastSeen = history.findLastIndex(
    ({ outcome }) => outcome !== 'missing' && outcome !== 'failed',
  )
  const first = history.slice(lastSeen + 1).find(isNotThere)
  // A quarter of leeway: the visit may come a little before its time.
  return first !== undefined && nowMs - first.atMs >= confirmMs * 0.75
}

/** Not one that could only not be had: its host was down, its login lost. */
const isNotThere = ({ outcome, status }: PastVisit): boolean =>
  outcome === 'missing' && status === 404
