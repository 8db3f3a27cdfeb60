/** The time that one piece of work may take, as an AbortSignal that also ends with a signal of the caller. */

export class Deadline {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal | undefined
  readonly #onOuterAbort = (): void => this.#controller.abort()
  #timer: NodeJS.Timeout
  #isExtended = false
  /** The time ran out; false where something else aborted. */
  isOver = false

  constructor(timeoutMs: number, outer?: AbortSignal) {
    this.#timer = setTimeout(() => this.#end(), timeoutMs)
    this.#outer = outer
    if (outer?.aborted === true) this.abort()
    outer?.addEventListener('abort', this.#onOuterAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(): void {
    this.#controller.abort()
  }

  /** The result is out, but what is left of the work goes on for at most `timeoutMs`; how it ends is nobody's business. */
  extend(timeoutMs: number, work: Promise<unknown>): void {
    this.#isExtended = true
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#end(), timeoutMs)
    const end = (): void => {
      this.#isExtended = false
      this.release()
    }
    work.then(end, end)
  }

  /** Frees timer and listener. While an extension runs, its end does so. */
  release(): void {
    if (this.#isExtended) return
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#onOuterAbort)
  }

  #end(): void {
    this.isOver = true
    this.#controller.abort()
  }
}
