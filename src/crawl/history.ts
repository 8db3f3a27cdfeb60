/** The last visits to one URL, packed into a few bytes of its row. Knows neither queue nor network. */

/** `isChanged`: what was stored then differs from what was stored before. */
export type PastVisit = { atMs: number; status: number; outcome: PastOutcome; isChanged: boolean }

const outcomes = [
  'stored',
  'duplicate',
  'unchanged',
  'redirect',
  'refused',
  'gone',
  'missing',
  'listed',
  'failed',
] as const
export type PastOutcome = (typeof outcomes)[number]

/** Older visits are forgotten. */
export const visitsKept = 8
/** Seconds (4), status (2), outcome and the bit of a change (1). */
const visitBytes = 7
const changedBit = 0x80

/** The packed history with one more visit, without those that are too old to keep. */
export function appendVisit(packed: Uint8Array | null, visit: PastVisit): Uint8Array {
  const kept = packed === null ? new Uint8Array() : packed.subarray(-visitBytes * (visitsKept - 1))
  const bytes = new Uint8Array(kept.length + visitBytes)
  bytes.set(kept)
  const view = new DataView(bytes.buffer)
  view.setUint32(kept.length, Math.min(0xffff_ffff, Math.max(0, Math.floor(visit.atMs / 1_000))))
  view.setUint16(kept.length + 4, visit.status)
  const code = outcomes.indexOf(visit.outcome)
  view.setUint8(kept.length + 6, code | (visit.isChanged ? changedBit : 0))
  return bytes
}

/** Oldest first. Bytes of no meaning are left out: a damaged row tells less, and stops nothing. */
export function readVisits(packed: Uint8Array | null): PastVisit[] {
  if (packed === null) return []
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  const visits: PastVisit[] = []
  for (let at = 0; at + visitBytes <= packed.length; at += visitBytes) {
    const code = view.getUint8(at + 6)
    const outcome = outcomes[code & ~changedBit]
    if (outcome === undefined) continue
    visits.push({
      atMs: view.getUint32(at) * 1_000,
      status: view.getUint16(at + 4),
      outcome,
      isChanged: (code & changedBit) !== 0,
    })
  }
  return visits
}
