/** Which proxy of a source is asked next: in turn, resting those that failed. Knows no network. */

/** So long a proxy rests after its first failure in a row; each further one doubles it. */
const restMs = 30_000
const restMaxMs = 15 * 60_000

export type ProxyRing = {
  /** The next that is well; where all rest, the one that rested longest. null = the source has none. */
  next(): string | null
  report(proxy: string, isWell: boolean): void
}

export function createProxyRing(proxies: readonly string[], now: () => number): ProxyRing {
  const states = proxies.map((proxy) => ({ proxy, failures: 0, restsUntilMs: 0 }))
  let turn = 0
  return {
    next() {
      const nowMs = now()
      for (let i = 0; i < states.length; i++) {
        const state = states[(turn + i) % states.length]
        if (state === undefined || state.restsUntilMs > nowMs) continue
        turn = (turn + i + 1) % states.length
        return state.proxy
      }
      const [soonest] = states.toSorted((a, b) => a.restsUntilMs - b.restsUntilMs)
      return soonest?.proxy ?? null
    },
    report(proxy, isWell) {
      const state = states.find((one) => one.proxy === proxy)
      if (state === undefined) return
      state.failures = isWell ? 0 : state.failures + 1
      state.restsUntilMs = isWell
        ? 0
        : now() + Math.min(restMaxMs, restMs * 2 ** Math.min(10, state.failures - 1))
    },
  }
}
