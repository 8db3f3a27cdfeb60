/** The priority of a thread, in threads that are there for it alone. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { getPriority } from 'node:os'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'

const modulePath = JSON.stringify(new URL('../../../src/lib/priority.ts', import.meta.url).href)

/** Priorities of a thread before and after it was made nicer by each of these steps, and of one that it began then. */
const priorities = (steps: readonly number[]): Promise<number[]> =>
  new Promise((resolve, reject) => {
    const own = "require('node:os').getPriority()"
    const worker = new Worker(
      `const { parentPort, Worker } = require('node:worker_threads')
       import(${modulePath}).then(({ beNicer }) => {
         const found = [${own}]
         for (const step of ${JSON.stringify(steps)}) { beNicer(step); found.push(${own}) }
         new Worker("require('node:worker_threads').parentPort.postMessage(${own.replaceAll("'", "\\'")})", { eval: true })
           .once('message', (inherited) => parentPort.postMessage([...found, inherited]))
       })`,
      { eval: true },
    )
    worker.once('message', resolve)
    worker.once('error', reject)
  })

describe('a thread that lets others go first', { skip: process.platform !== 'linux' }, () => {
  it('is nicer than before, as are those it begins, and the others are as they were', async () => {
    const before = getPriority()
    // These tests may be run nicely themselves.
    const nicer = [0, 3, 5, 5].map((steps) => Math.min(19, before + steps))
    assert.deepEqual(await priorities([3, 2]), nicer)
    assert.equal(getPriority(), before)
  })

  it('is never nicer than can be', async () => {
    assert.deepEqual((await priorities([15, 15])).slice(2), [19, 19])
  })
})

describe(
  'the threads in which V8 works for all others',
  { skip: process.platform !== 'linux' },
  () => {
    it('are made nicer, and no other thread is', () => {
      const program = `
      import { readdirSync, readFileSync } from 'node:fs'
      import { getPriority } from 'node:os'
      import { letHelpersBeNicer } from ${modulePath}
      letHelpersBeNicer(4)
      const threads = readdirSync('/proc/self/task').map(Number)
      const nameOf = (thread) => readFileSync('/proc/self/task/' + thread + '/comm', 'latin1').trim()
      console.log(JSON.stringify(threads.map((thread) => [nameOf(thread), getPriority(thread)])))`
      const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program])
      const threads = JSON.parse(printed.toString()) as [string, number][]
      const own = getPriority()
      const helpers = threads.filter(([name]) => name === 'V8Worker')
      assert.ok(helpers.length > 0 && helpers.length < threads.length)
      for (const [name, priority] of threads)
        assert.equal(priority, name === 'V8Worker' ? Math.min(19, own + 4) : own, name)
    })
  },
)
