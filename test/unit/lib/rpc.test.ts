/** Calls between threads, over a real message channel. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { AppError } from '../../../src/lib/errors.ts'
import { answerCalls, createCaller, sendEvent, type Handlers } from '../../../src/lib/rpc.ts'

const open: MessageChannel[] = []
after(() => {
  for (const { port1, port2 } of open) {
    port1.close()
    port2.close()
  }
})

function connect(handlers: Handlers) {
  const channel = new MessageChannel()
  open.push(channel)
  answerCalls(channel.port2, handlers)
  return { caller: createCaller(channel.port1), far: channel.port2 }
}

describe('a call between threads', () => {
  it('is answered with what the handler returns, now or later', async () => {
    const { caller } = connect({
      double: (n: number) => n * 2,
      later: async (n: number) => n + 1,
    })
    assert.deepEqual(await Promise.all([caller.call('double', 2), caller.call('later', 2)]), [4, 3])
    assert.equal(caller.open(), 0)
  })

  it('brings an expected failure over with its code and its wait', async () => {
    const { caller } = connect({
      busy: () => {
        throw new AppError('overloaded', 'too many', { retryAfterS: 3 })
      },
    })
    await assert.rejects(caller.call('busy'), {
      code: 'overloaded',
      message: 'too many',
      retryAfterS: 3,
    })
  })

  it('brings a bug over as internal', async () => {
    const { caller } = connect({
      bug: () => {
        throw new TypeError('x is not a function')
      },
    })
    await assert.rejects(caller.call('bug'), { code: 'internal' })
    await assert.rejects(caller.call('unknown'), { code: 'internal' })
  })

  it('moves buffers instead of copying them', async () => {
    const { caller } = connect({ size: (buffer: ArrayBuffer) => buffer.byteLength })
    const buffer = new ArrayBuffer(16)
    assert.equal(await caller.call('size', buffer, [buffer]), 16)
    assert.equal(buffer.byteLength, 0)
  })

  it('fails when the other end is gone, and so does every later one', async () => {
    const { caller } = connect({ never: () => new Promise(() => {}) })
    const waiting = caller.call('never')
    caller.fail(new AppError('starting', 'gone'))
    await assert.rejects(waiting, { code: 'starting' })
    await assert.rejects(caller.call('never'), { code: 'starting' })
  })

  it('hears events by name only', async () => {
    const { caller, far } = connect({})
    const heard = new Promise((resolve) => caller.onEvent('news', resolve))
    sendEvent(far, 'other', 1)
    sendEvent(far, 'news', 2)
    assert.equal(await heard, 2)
  })
})
