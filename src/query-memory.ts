/** Counts queries that found something, and hands the counts on in batches: only the engine writes. Knows nothing of who asked. */
import type { SearchAnswer, SearchRequest } from './search/answer.ts'
import type { AskedQuery } from './store/asked-queries.ts'

const queryCharsMax = 80
/** Different queries in one batch; more are not counted. */
const batchMax = 1_000
const everyMs = 10_000

export type QueryMemory = {
  note(request: SearchRequest, answer: SearchAnswer): void
  flush(): void
}

/** @param send must not throw @param wait calls once after the time: a timer that keeps no process alive */
export function createQueryMemory(
  send: (asked: AskedQuery[]) => void,
  wait: (ring: () => void, ms: number) => void = (ring, ms) => void setTimeout(ring, ms).unref(),
): QueryMemory {
  let batch = new Map<string, AskedQuery>()
  const flush = (): void => {
    if (batch.size === 0) return
    const asked = [...batch.values()]
    batch = new Map()
    send(asked)
  }
  return {
    note(request, answer) {
      const text = request.q.replace(/\s+/g, ' ').trim()
      // Further pages are the same question; one that was read otherwise is not what finds something.
      if (request.offset > 0 || request.cursor !== null || answer.total.value === 0) return
      if (!isOfferable(text) || answer.suggestions.length > 0) return
      // Not foldText: the tables of characters are not in this thread.
      const folded = text.normalize('NFKC').toLowerCase()
      const known = batch.get(folded)
      if (known) batch.set(folded, { folded, text, count: known.count + 1 })
      else if (batch.size < batchMax) {
        if (batch.size === 0) wait(flush, everyMs)
        batch.set(folded, { folded, text, count: 1 })
      }
    },
    flush,
  }
}

/** Words, not operators; nothing that looks like an address, a mailbox or a long number, which may be somebody's. */
const isOfferable = (text: string): boolean =>
  text.length <= queryCharsMax && /\p{L}/u.test(text) && !/[:@"()/]|\d{6}|(^|\s)-/u.test(text)
