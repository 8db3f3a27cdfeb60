/** `findling serve`: the app with its HTTP server, until a signal comes. */
import { adminKey, openApp } from '../app.ts'
import { programVersion, publicFiles } from '../assets.ts'
import { crawlSpecOf } from './crawl.ts'
import type { Call } from './command.ts'
import { putSources, readSourceFile } from './sources.ts'
import { parseListen } from '../config.ts'

export async function serveCommand(call: Call): Promise<number> {
  const { config, directory, log } = call
  const { host, port } = parseListen(config.listen)
  const seeds = Array.isArray(call.options['crawl']) ? call.options['crawl'].map(String) : []
  const described = config.sources === '' ? [] : readSourceFile(config.sources)
  const app = await openApp({
    config,
    directory,
    engine: true,
    resumeJobs: true,
    search: true,
    log,
  })
  try {
    // Fastify is loaded while the threads load their code.
    const { createServer } = await import('../server/server.ts')
    const { createPublicFiles } = await import('../server/public-files.ts')
    const key = adminKey(config, directory)
    const server = createServer({
      search: app.search,
      crawl: app.crawl,
      index: app.index,
      health: app.health,
      key,
      log,
      version: programVersion().version,
      publicFiles: createPublicFiles(publicFiles()),
      hostNames: config['host-names'],
    })
    try {
      const address = await server.listen(host, port)
      app.announce(address)
      log('info', `Findling ${programVersion().version} answers on ${address}/`)
      process.stderr.write(`key: ${key}\n`)
      const stopped = untilSignal()
      await app.ready()
      log('info', 'ready')
      const put = (given: unknown) => app.crawl.putSource(given, { mayReplace: true })
      for (const name of await putSources(described, put)) await app.crawl.startSource(name)
      if (seeds.length > 0) await app.crawl.start(crawlSpecOf(call, seeds))
      log('info', `stopping on ${await stopped}`)
    } finally {
      // Also when the engine refuses the data: a listener would hold the process for ever.
      await server.close()
    }
  } finally {
    await app.close()
  }
  return 0
}

/** The first signal lets everything end in order; the second ends the process at once. */
function untilSignal(): Promise<string> {
  return new Promise((resolve) => {
    let count = 0
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        count++
        if (count > 1) process.exit(130)
        resolve(signal)
      })
    }
  })
}
