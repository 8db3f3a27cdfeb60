/** Threads with a time limit: results, overruns, crashes, a full heap, the queue's edge and the end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../../src/lib/errors.ts'
import {
  createPool,
  JobFailure,
  type JobFailureKind,
  type Pool,
  type PoolOptions,
  threadIsReady,
} from '../../../src/lib/pool.ts'

/** What the threads of this test do with a job, by its `act`. */
const program = `
const { parentPort, threadId } = require('node:worker_threads')
const acts = {
  double: (job) => job.value * 2,
  thread: () => threadId,
  bytes: (job) => job.body.byteLength,
  hang: () => { for (;;); },
  wait: (job) => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, job.value); return 1 },
  leave: () => process.exit(3),
  grow: () => { const kept = []; for (;;) kept.push(new Array(10000).fill(kept.length)) },
}
parentPort.on('message', ({ id, job }) => {
  if (job.act === 'bug') setImmediate(() => { throw new Error('a bug') })
  else if (job.act === 'say') parentPort.postMessage({ id, error: { code: 'bad_input', detail: 'not so' } })
  else if (job.act === 'twice') { parentPort.postMessage({ id, result: 1 }); parentPort.postMessage({ id, result: 2 }) }
  else parentPort.postMessage({ id, result: acts[job.act](job) })
})`

type Job = { act: string; value?: number; body?: ArrayBuffer }
const spawn = (): Worker =>
  new Worker(program, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } })
const failsAs =
  (kind: JobFailureKind) =>
  (error: unknown): boolean =>
    error instanceof JobFailure && error.kind === kind

async function withPool(
  options: Partial<Omit<PoolOptions, 'spawn'>>,
  use: (pool: Pool<Job, number>, workers: Worker[]) => Promise<void>,
): Promise<void> {
  const workers: Worker[] = []
  const pool = createPool<Job, number>({
    spawn: () => {
      const worker = spawn()
      workers.push(worker)
      return worker
    },
    sizeMax: 1,
    jobTimeoutMs: 5_000,
    startTimeoutMs: 0,
    loadTimeoutMs: 0,
    queueMax: 100,
    ...options,
  })
  try {
    await use(pool, workers)
  } finally {
    await pool.close()
  }
}

describe('a pool of threads', { timeout: 30_000 }, () => {
  it('answers every job with its own result', () =>
    withPool({ sizeMax: 2 }, async (pool, workers) => {
      const values = Array.from({ length: 50 }, (_, i) => i)
      const results = await Promise.all(values.map((value) => pool.run({ act: 'double', value })))
      assert.deepEqual(
        results,
        values.map((value) => value * 2),
      )
      assert.equal(workers.length, 2)
    }))

  it('keeps one thread where one is enough', () =>
    withPool({ sizeMax: 4 }, async (pool) => {
      const first = await pool.run({ act: 'thread' })
      for (let i = 0; i < 5; i++) assert.equal(await pool.run({ act: 'thread' }), first)
      assert.equal(pool.threads, 1)
    }))

  it('moves buffers instead of copying them', () =>
    withPool({}, async (pool) => {
      const body = new ArrayBuffer(1_000)
      assert.equal(await pool.run({ act: 'bytes', body }, [body]), 1_000)
      assert.equal(body.byteLength, 0)
    }))

  const deaths: [act: string, kind: JobFailureKind][] = [
    ['hang', 'timeout'],
    ['leave', 'crashed'],
    ['bug', 'crashed'],
    ['grow', 'heap'],
  ]
  for (const [act, kind] of deaths)
    it(`fails a job that does "${act}" as ${kind} and goes on with the others`, () =>
      withPool({ jobTimeoutMs: act === 'hang' ? 300 : 20_000 }, async (pool, workers) => {
        const before = pool.run({ act: 'double', value: 1 })
        const bad = assert.rejects(pool.run({ act }), failsAs(kind))
        const after = pool.run({ act: 'double', value: 2 })
        assert.equal(await before, 2)
        await bad
        assert.equal(await after, 4)
        assert.equal(workers.length, 2)
        assert.equal(pool.threads, 1)
      }))

  it('counts the time of a job from its own start, not from the queue', () =>
    withPool({ jobTimeoutMs: 400 }, async (pool) => {
      const ended: string[] = []
      const first = pool.run({ act: 'hang' }).catch(() => ended.push('first'))
      const second = pool.run({ act: 'hang' }).catch(() => ended.push('second'))
      await first
      assert.deepEqual(ended, ['first'])
      assert.equal(pool.threads, 1)
      await second
    }))

  it('hands on the error that a job answers, and keeps its thread', () =>
    withPool({}, async (pool, workers) => {
      await assert.rejects(
        pool.run({ act: 'say' }),
        (error) => error instanceof AppError && error.code === 'bad_input',
      )
      assert.equal(await pool.run({ act: 'double', value: 3 }), 6)
      assert.equal(workers.length, 1)
    }))

  it('takes the first of two answers only', () =>
    withPool({}, async (pool) => {
      assert.equal(await pool.run({ act: 'twice' }), 1)
      assert.equal(await pool.run({ act: 'double', value: 4 }), 8)
    }))

  it('refuses a job beyond the queue, not one before', () =>
    withPool({ queueMax: 2 }, async (pool) => {
      const taken = [1, 2, 3].map((value) => pool.run({ act: 'double', value }))
      assert.equal(pool.queued, 2)
      await assert.rejects(pool.run({ act: 'double', value: 4 }), failsAs('full'))
      assert.deepEqual(await Promise.all(taken), [2, 4, 6])
    }))

  it('rejects a job that cannot be sent, and keeps its thread', () =>
    withPool({}, async (pool) => {
      const unsendable = { act: 'double', value: 1, body: (() => 0) as unknown as ArrayBuffer }
      await assert.rejects(pool.run(unsendable), { name: 'DataCloneError' })
      assert.equal(await pool.run({ act: 'double', value: 5 }), 10)
    }))

  const waits: [patience: number, outcome: string][] = [
    [1, 'timeout'],
    [2, 'timeout'],
    [50, 'done'],
  ]
  for (const [patience, outcome] of waits)
    it(`with a patience of ${patience}, a job that got no core for four times its limit ends as ${outcome}`, () =>
      withPool({ jobTimeoutMs: 200, patience }, async (pool) => {
        const job = pool.run({ act: 'wait', value: 800 })
        if (outcome === 'done') assert.equal(await job, 1)
        else await assert.rejects(job, failsAs('timeout'))
      }))

  it('has no patience with a job that keeps its core busy', () =>
    withPool({ jobTimeoutMs: 200, patience: 1_000 }, async (pool) => {
      await assert.rejects(pool.run({ act: 'hang' }), failsAs('timeout'))
    }))

  it('counts the time of the first job of a thread from when the thread is ready', async () => {
    const pool = createPool<Job, number>({
      // Loading takes longer than the job may; then a job that is late, and one that never ends.
      spawn: () =>
        new Worker(
          `const until = Date.now() + 700; while (Date.now() < until);
          ${program}
          parentPort.postMessage('${threadIsReady}')`,
          { eval: true },
        ),
      sizeMax: 1,
      jobTimeoutMs: 500,
      startTimeoutMs: 0,
      loadTimeoutMs: 20_000,
      queueMax: 1,
    })
    try {
      assert.equal(await pool.run({ act: 'double', value: 2 }), 4)
      await assert.rejects(pool.run({ act: 'hang' }), failsAs('timeout'))
      const beganMs = Date.now()
      await assert.rejects(pool.run({ act: 'hang' }), failsAs('timeout'))
      assert.ok(Date.now() - beganMs < 15_000, 'a fresh thread that is ready has no more time')
    } finally {
      await pool.close()
    }
  })

  it('fails the job where no thread can be started', async () => {
    const pool = createPool<Job, number>({
      spawn: () => {
        throw new Error('no memory')
      },
      sizeMax: 1,
      jobTimeoutMs: 100,
      queueMax: 1,
    })
    await assert.rejects(pool.run({ act: 'double' }), failsAs('crashed'))
    await pool.close()
  })

  it('ends a thread that has nothing to do, and starts one for the next job', () =>
    withPool({ idleMs: 20 }, async (pool, workers) => {
      await pool.run({ act: 'double', value: 1 })
      const [worker] = workers
      assert.ok(worker !== undefined)
      // The idle timer does not keep the process alive, so this test does.
      const alive = setInterval(() => {}, 1_000)
      await once(worker, 'exit')
      clearInterval(alive)
      assert.equal(pool.threads, 0)
      assert.equal(await pool.run({ act: 'double', value: 2 }), 4)
    }))

  it('rejects what runs, waits or comes when it is closed', () =>
    withPool({}, async (pool) => {
      const running = assert.rejects(pool.run({ act: 'hang' }), failsAs('closed'))
      const waiting = assert.rejects(pool.run({ act: 'double' }), failsAs('closed'))
      await pool.close()
      await Promise.all([running, waiting])
      await assert.rejects(pool.run({ act: 'double' }), failsAs('closed'))
      assert.equal(pool.threads, 0)
      await pool.close()
    }))
})
