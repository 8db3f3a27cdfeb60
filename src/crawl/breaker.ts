/** When a host that only fails is left alone: after some failures in a row it rests, longer each time. Pure. */

/** Failures in a row, of whatever pages, from which on the host rests. */
export const restsFrom = 10
/** A job waits for a host that rests no longer than this; what is queued on others stays for its next run. */
export const restToWaitForMs = 10 * 60_000
const firstRestMs = 60_000
const restMaxMs = 6 * 3_600_000

/** How long a host with so many failures in a row is not asked: a minute, and twice as long with each further failure. */
export function restMs(failures: number): number {
  if (failures < restsFrom) return 0
  return Math.min(restMaxMs, firstRestMs * 2 ** Math.min(30, failures - restsFrom))
}
