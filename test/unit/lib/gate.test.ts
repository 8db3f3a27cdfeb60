/** A gate between threads: who comes early waits, who comes late passes, and whoever waits can still be ended. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createGate, openGate, waitAt } from '../../../src/lib/gate.ts'

const code = `
const { parentPort, workerData } = require('node:worker_threads')
import(workerData.module).then(({ waitAt }) => {
  parentPort.postMessage('waits')
  waitAt(workerData.gate)
  parentPort.postMessage('passes')
})`
const module = new URL('../../../src/lib/gate.ts', import.meta.url).href
const startWaiting = async (gate: SharedArrayBuffer): Promise<Worker> => {
  const worker = new Worker(code, { eval: true, workerData: { module, gate } })
  assert.deepEqual(await once(worker, 'message'), ['waits'])
  return worker
}

describe('a gate', () => {
  it('holds a thread until it is opened, and no longer', async () => {
    const gate = createGate()
    const worker = await startWaiting(gate)
    const passes = once(worker, 'message')
    openGate(gate)
    assert.deepEqual(await passes, ['passes'])
    await worker.terminate()
  })

  it('is open for good', () => {
    const gate = createGate()
    openGate(gate)
    waitAt(gate)
    waitAt(gate)
  })

  it('does not keep a thread from being ended', async () => {
    const worker = await startWaiting(createGate())
    assert.equal(await worker.terminate(), 1)
  })
})
