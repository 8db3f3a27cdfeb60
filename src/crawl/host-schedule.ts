/** Whose turn it is: hosts in memory with the candidates of their queues, ordered by due time, then by priority in turns. Knows no SQL. */
import assert from 'node:assert'
import { createHeap } from '../lib/heap.ts'
import { restsFrom } from './breaker.ts'
import type { Fared } from './frontier.ts'

export type Candidate = {
  id: number
  path: string
  /** Lower is better. */
  priority: number
  depth: number
  tries: number
  etag: string | null
  modified: string | null
  /** As in the row. */
  kind: number
  via: number
  history: Uint8Array | null
}

/** The queued URLs of one source on one host. */
type Queue = {
  sourceId: number
  /** The first of the queue, best last. */
  buffer: Candidate[]
  /** Nothing but what is out or buffered is queued. */
  isDry: boolean
}

export type Host = {
  id: number
  origin: string
  dueAtMs: number
  /** Requests under way. */
  busy: number
  /** Leases not yet settled. */
  out: number
  queues: Map<number, Queue>
  /** In a row, over all its pages. */
  failures: number
  /** `dueAtMs` or `failures` differ from what is stored. */
  isDirty: boolean
  isWaiting: boolean
  /** Only the newest entry among the ready ones counts. */
  turn: number
}

export type Pick = { host: Host; sourceId: number; candidate: Candidate }

export type ScheduleOptions = {
  /** Requests to one host at a time. */
  connections: number
  /** The first `limit` queued URLs of this queue that are not out, best first. */
  readQueue(host: Host, sourceId: number, limit: number): Candidate[]
}

type Turn = { host: Host; priority: number; turn: number }

const candidatesPerHostMax = 64
/** Over all hosts: many hosts share it, so that memory is bounded. */
const candidatesMax = 16_384
/** Hosts that fall due in one call; the rest follows with the next ones. */
const promotionsMax = 256

export class HostSchedule {
  readonly #options: ScheduleOptions
  readonly #hosts = new Map<number, Host>()
  readonly #waiting = createHeap<{ host: Host; dueAtMs: number }>((a, b) => a.dueAtMs < b.dueAtMs)
  readonly #ready = createHeap<Turn>(
    (a, b) => a.priority < b.priority || (a.priority === b.priority && a.turn < b.turn),
  )
  #turns = 0

  constructor(options: ScheduleOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#hosts.size
  }

  get(id: number): Host | undefined {
    return this.#hosts.get(id)
  }

  hosts(): IterableIterator<Host> {
    return this.#hosts.values()
  }

  /** The host with this id, made where it is new. */
  ensure(id: number, origin: string, dueAtMs: number, failures: number): Host {
    const known = this.#hosts.get(id)
    if (known !== undefined) {
      assert(known.origin === origin, `host ${id} is ${known.origin} and ${origin}`)
      return known
    }
    const host: Host = {
      id,
      origin,
      dueAtMs,
      failures,
      busy: 0,
      out: 0,
      queues: new Map(),
      isDirty: false,
      isWaiting: false,
      turn: 0,
    }
    this.#hosts.set(id, host)
    return host
  }

  /** Something was queued for this source. Candidates that it comes before are read anew. */
  queued(host: Host, sourceId: number, priority: number): void {
    const queue = host.queues.get(sourceId)
    if (queue === undefined) {
      host.queues.set(sourceId, { sourceId, buffer: [], isDry: false })
    } else {
      queue.isDry = false
      const worst = queue.buffer[0]
      if (worst !== undefined && priority < worst.priority) {
        queue.buffer = []
        // Its turn was reckoned with the old head.
        host.turn = 0
      }
    }
    this.#wait(host)
  }

  /** Forgets the queues of all other sources. */
  keepOnly(sourceIds: ReadonlySet<number>): void {
    for (const host of this.#hosts.values()) {
      for (const id of host.queues.keys()) if (!sourceIds.has(id)) host.queues.delete(id)
      host.turn = 0
      this.#wait(host)
      this.dropIfDone(host)
    }
  }

  /** Forgets every queue and every host that is not in use. */
  clear(): void {
    this.keepOnly(new Set())
    this.#ready.clear()
  }

  /** The best candidate of the hosts that are free and due, taken off its queue. The caller notes it as out and occupies the host. */
  pick(nowMs: number): Pick | null {
    this.#promote(nowMs)
    for (;;) {
      const turn = this.#nextTurn(nowMs)
      if (turn === null) return null
      this.#ready.pop()
      const { host } = turn
      host.turn = 0
      const queue = this.#bestQueue(host)
      const candidate = queue?.buffer.at(-1)
      if (queue === undefined || candidate === undefined) continue
      if (candidate.priority > turn.priority) {
        this.#makeReady(host, candidate.priority)
        continue
      }
      queue.buffer.pop()
      return { host, sourceId: queue.sourceId, candidate }
    }
  }

  /** A lease goes out; while there is room for another request the host stays in line. */
  occupy(host: Host): void {
    host.busy++
    host.out++
    this.#wait(host)
  }

  /** An answer, or none, came from this host. @returns failures in a row */
  fared(host: Host, fared: Fared): number {
    const failures = fared === 'failed' ? host.failures + 1 : 0
    if (failures !== host.failures) host.isDirty = true
    host.failures = failures
    return failures
  }

  /** Somebody wants this host to be asked now. */
  wake(host: Host, nowMs: number): void {
    host.dueAtMs = Math.min(host.dueAtMs, nowMs)
    host.isDirty = true
    // Its place in the line was reckoned with the old time.
    host.isWaiting = false
    this.#wait(host)
  }

  /** All that is queued for these sources lies on hosts that rest for longer than `restMs`. False where nothing is queued. */
  isAllResting(sourceIds: ReadonlySet<number>, nowMs: number, restMs: number): boolean {
    let isAny = false
    for (const host of this.#hosts.values()) {
      for (const [id, queue] of host.queues) {
        if (!sourceIds.has(id)) continue
        this.#fill(host, queue)
        if (queue.buffer.length === 0) continue
        if (host.failures < restsFrom || host.dueAtMs - nowMs <= restMs) return false
        isAny = true
      }
    }
    return isAny
  }

  /** The response is in. */
  free(host: Host, dueAtMs: number): void {
    host.busy--
    if (dueAtMs > host.dueAtMs) {
      host.dueAtMs = dueAtMs
      host.isDirty = true
    }
    this.#wait(host)
  }

  /** When `pick` can next succeed; null where no host waits for time alone. */
  nextDueAt(nowMs: number): number | null {
    this.#promote(nowMs)
    if (this.#nextTurn(nowMs) !== null) return nowMs
    for (;;) {
      const next = this.#waiting.peek()
      if (next === undefined) return null
      const { host } = next
      const isCurrent = host.isWaiting && this.#hosts.get(host.id) === host
      if (isCurrent && this.#bestQueue(host) !== undefined) return Math.max(nowMs, next.dueAtMs)
      this.#waiting.pop()
      if (isCurrent) host.isWaiting = false
    }
  }

  /** Drops a host that has nothing queued and nothing out. */
  dropIfDone(host: Host): void {
    const isInUse = host.busy > 0 || host.out > 0 || host.isDirty || this.#hasWork(host)
    if (!isInUse) this.#hosts.delete(host.id)
  }

  #hasWork(host: Host): boolean {
    for (const queue of host.queues.values())
      if (queue.buffer.length > 0 || !queue.isDry) return true
    return false
  }

  /** Puts the host in line, once, where it is free and something of it is queued. */
  #wait(host: Host): void {
    if (host.isWaiting || host.turn > 0 || host.busy >= this.#options.connections) return
    if (this.#bestQueue(host) === undefined) return
    host.isWaiting = true
    this.#waiting.push({ host, dueAtMs: host.dueAtMs })
  }

  /** Moves what is due by now from the line to the ready ones. */
  #promote(nowMs: number): void {
    for (let i = 0; i < promotionsMax; i++) {
      const next = this.#waiting.peek()
      if (next === undefined || next.dueAtMs > nowMs) return
      this.#waiting.pop()
      const { host } = next
      if (!host.isWaiting || this.#hosts.get(host.id) !== host) continue
      host.isWaiting = false
      if (host.dueAtMs > nowMs) {
        this.#wait(host)
        continue
      }
      const head = this.#bestQueue(host)?.buffer.at(-1)
      if (head === undefined) this.dropIfDone(host)
      else if (host.busy < this.#options.connections) this.#makeReady(host, head.priority)
    }
  }

  #makeReady(host: Host, priority: number): void {
    host.turn = ++this.#turns
    this.#ready.push({ host, priority, turn: host.turn })
  }

  /** The first of the ready ones that still counts; the others go. */
  #nextTurn(nowMs: number): Turn | null {
    for (;;) {
      const turn = this.#ready.peek()
      if (turn === undefined) return null
      const { host } = turn
      if (host.turn === turn.turn && this.#hosts.get(host.id) === host && host.dueAtMs <= nowMs)
        return turn
      this.#ready.pop()
      if (host.turn !== turn.turn) continue
      host.turn = 0
      this.#wait(host)
    }
  }

  /** The queue whose first candidate is the best one of the host, older URLs first. */
  #bestQueue(host: Host): Queue | undefined {
    let best: Queue | undefined
    let bestHead: Candidate | undefined
    for (const queue of host.queues.values()) {
      this.#fill(host, queue)
      const head = queue.buffer.at(-1)
      if (head === undefined) continue
      if (bestHead === undefined || isBefore(head, bestHead)) {
        best = queue
        bestHead = head
      }
    }
    return best
  }

  #fill(host: Host, queue: Queue): void {
    if (queue.isDry || queue.buffer.length > 0) return
    const share = Math.floor(candidatesMax / Math.max(1, this.#hosts.size))
    const limit = Math.max(1, Math.min(candidatesPerHostMax, share))
    queue.buffer = this.#options.readQueue(host, queue.sourceId, limit).toReversed()
    queue.isDry = queue.buffer.length < limit
  }
}

const isBefore = (a: Candidate, b: Candidate): boolean =>
  a.priority < b.priority || (a.priority === b.priority && a.id < b.id)
