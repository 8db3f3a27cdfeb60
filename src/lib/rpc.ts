/** Calls between threads: named requests with plain values over a message port, answered once. Knows no thread and no message of ours. */
import { plainError, reviveError, type PlainError } from './errors.ts'

/** What both ends need of a MessagePort or Worker. */
export type Wire = {
  postMessage(value: unknown, transfer?: readonly Transferable[]): void
  on(event: 'message', listener: (value: unknown) => void): unknown
}
type Transferable = ArrayBuffer | import('node:worker_threads').MessagePort

type Request = { rpc: 'call'; id: number; name: string; input: unknown }
type Response =
  | { rpc: 'result'; id: number; value: unknown }
  | { rpc: 'error'; id: number; error: PlainError }
type Event = { rpc: 'event'; name: string; value: unknown }

const isOurs = (value: unknown): value is Request | Response | Event =>
  typeof value === 'object' && value !== null && 'rpc' in value

export type Handlers = Record<string, (input: never) => unknown>

/** Answers the calls that come over `wire`. A handler may return a promise; what it throws goes back as an AppError. */
export function answerCalls(wire: Wire, handlers: Handlers): void {
  wire.on('message', (message) => {
    if (!isOurs(message) || message.rpc !== 'call') return
    const { id, name, input } = message
    const handler = handlers[name] as ((input: unknown) => unknown) | undefined
    const reply = (response: Response): void => wire.postMessage(response)
    void (async () => {
      try {
        if (handler === undefined) throw new Error(`no handler ${name}`)
        reply({ rpc: 'result', id, value: await handler(input) })
      } catch (error) {
        reply({ rpc: 'error', id, error: plainError(error) })
      }
    })()
  })
}

export type Caller = {
  call<T>(name: string, input?: unknown, transfer?: readonly Transferable[]): Promise<T>
  onEvent(name: string, listener: (value: never) => void): void
  /** Every call under way, and every later one, fails with this: the other end is gone. */
  fail(error: Error): void
  /** Calls not yet answered. */
  open(): number
}

export function createCaller(wire: Wire): Caller {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  const listeners = new Map<string, ((value: never) => void)[]>()
  let nextId = 1
  let gone: Error | null = null
  wire.on('message', (message) => {
    if (!isOurs(message) || message.rpc === 'call') return
    if (message.rpc === 'event') {
      for (const listener of listeners.get(message.name) ?? []) listener(message.value as never)
      return
    }
    const entry = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.rpc === 'result') entry?.resolve(message.value)
    else entry?.reject(reviveError(message.error))
  })
  return {
    call<T>(name: string, input?: unknown, transfer?: readonly Transferable[]): Promise<T> {
      if (gone !== null) return Promise.reject(gone)
      return new Promise<T>((resolve, reject) => {
        const id = nextId++
        waiting.set(id, { resolve: (value) => resolve(value as T), reject })
        const request: Request = { rpc: 'call', id, name, input }
        wire.postMessage(request, transfer)
      })
    },
    onEvent(name, listener) {
      listeners.set(name, [...(listeners.get(name) ?? []), listener])
    },
    fail(error) {
      gone = error
      for (const entry of waiting.values()) entry.reject(error)
      waiting.clear()
    },
    open: () => waiting.size,
  }
}

export function sendEvent(
  wire: Wire,
  name: string,
  value: unknown,
  transfer?: readonly Transferable[],
): void {
  const event: Event = { rpc: 'event', name, value }
  wire.postMessage(event, transfer)
}
