/** A gate between threads: shut until one thread opens it, then open for good. Who waits does nothing else meanwhile. */

export type Gate = SharedArrayBuffer

export const createGate = (): Gate => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)

export function openGate(gate: Gate): void {
  const word = new Int32Array(gate)
  Atomics.store(word, 0, 1)
  Atomics.notify(word, 0)
}

/** Blocks this thread until the gate is open; `terminate` of its worker still ends it. */
export function waitAt(gate: Gate): void {
  const word = new Int32Array(gate)
  while (Atomics.load(word, 0) === 0) Atomics.wait(word, 0, 0)
}
