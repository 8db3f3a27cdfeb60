/** What of a queue is no longer to be fetched, as the rules of its host judge it now: put aside, or known under a shorter name. */
import type { FoundUrl } from './frontier.ts'
import type { FrontierOptions } from './frontier-options.ts'
import { type FrontierStatements, isListed } from './frontier-rows.ts'
import type { Tallies } from './frontier-tallies.ts'
import type { Candidate } from './host-schedule.ts'

export type Judge = NonNullable<FrontierOptions['judge']>

export type ClearingTools = {
  judge: Judge
  sql: Pick<FrontierStatements, 'putAside' | 'rename'>
  tallies: Pick<Tallies, 'move'>
  /** The shorter name of one that leaves. */
  add: (found: FoundUrl) => void
}

/** What is put aside comes back when somebody says so: this is never. */
const neverMs = Date.UTC(9_999, 0, 1)

/** In a transaction. @returns how many have left the queue */
export function clearQueue(
  candidates: readonly Candidate[],
  origin: string,
  sourceId: number,
  { judge, sql, tallies, add }: ClearingTools,
): number {
  let gone = 0
  for (const candidate of candidates) {
    if (isListed(candidate)) continue
    const verdict = judge(origin + candidate.path, candidate.via === 1)
    if (verdict.kind !== 'wanted') gone++
    if (verdict.kind === 'aside') {
      sql.putAside.run(verdict.reason, neverMs, candidate.id)
      tallies.move(sourceId, 'queued', sourceId, 'aside')
    } else if (verdict.kind === 'renamed') {
      sql.rename.run(verdict.to, candidate.id)
      tallies.move(sourceId, 'queued', sourceId, 'settled')
      const { depth, priority } = candidate
      add({ url: verdict.to, sourceId, depth, priority })
    }
  }
  return gone
}
