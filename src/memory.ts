/** How the program shares out the memory it was given: a table of sizes from memory, cores and kind of disk. Pure: measures nothing. */
import type { ResourceLimits } from 'node:worker_threads'
import { settings, type Config } from './config.ts'
import { AppError } from './lib/errors.ts'

export type Machine = { cores: number; isFlash: boolean }

export type Profile = {
  /** The settings as they are in force; what the user set stays, but for what the memory does not allow. */
  settings: Pick<Config, 'parsers' | 'connections' | 'batch-pages' | 'batch-bytes' | 'batch-ms'>
  /** Page cache of each connection, KiB. */
  cacheKb: { engine: number; search: number }
  heaps: { engine: ResourceLimits; search: ResourceLimits; parser: ResourceLimits }
  /** Postings that wait in memory, and for how long. They are held by the engine and by the search thread. */
  pending: { bytesMax: number; ageMsMax: number }
  bloom: 'mapped' | 'memory'
  /** wink-nlp's model for English keywords, about 25 MB; without it words are only counted. */
  usesKeywordModel: boolean
  /** A sentence for the log about each thing that is less than usual. */
  gaveUp: string[]
}

const MiB = 1_024 * 1_024
/** From here on nothing is given up. */
const usualMb = 256
/** A half of what is usual is given from here on, a quarter below. */
const halfMb = 192
/** What a server that crawls and answers takes with everything given up that can be: 222 MB at the peak. */
const leastMb = 224
/** What is not cache: each MB beyond it goes to the two page caches, an eighth to each. */
const threadsMb = 192
const cacheKbMax = 256 * 1_024
const cacheKbMin = 2 * 1_024
const parsersMax = 8
/** On flash cards each commit costs whole erase blocks: fewer and larger ones. */
const flashBatchPages = 500
const flashBatchMs = 30_000
const flashPendingAgeMs = 5 * 60_000
const pendingAgeMs = 30_000

/** @param config as loaded; `memory` in MB is the most that the process should take */
export function profileOf(config: Config, { cores, isFlash }: Machine): Profile {
  const { memory } = config
  const gaveUp: string[] = []
  const less = (what: string, usual: number, now: number, unit = ''): void => {
    if (now < usual) gaveUp.push(`${what}: ${now}${unit} instead of ${usual}${unit}`)
  }
  const connections = Math.min(config.connections, connectionsFor(memory))
  less('requests at a time', config.connections, connections)
  const usualParsers = parsersFor(usualMb, cores)
  const parsers = config.parsers === 0 ? parsersFor(memory, cores) : config.parsers
  if (config.parsers === 0) less('parser threads', usualParsers, parsers)
  const batchBytes = Math.min(config['batch-bytes'], scaled(memory, 4) * MiB)
  less('bytes in a commit', config['batch-bytes'] / MiB, batchBytes / MiB, ' MB')
  const pendingBytes = scaled(memory, 4) * MiB
  less('postings in memory', 4, pendingBytes / MiB, ' MB')
  const cacheKb = cacheKbFor(memory)
  less('page caches', cacheKbFor(usualMb) / 1_024, cacheKb / 1_024, ' MB')
  if (memory < usualMb)
    gaveUp.push('keywords of English pages: counted, without a model of the language')
  return {
    settings: {
      parsers,
      connections,
      'batch-pages': isFlash
        ? unlessSet(config, 'batch-pages', flashBatchPages)
        : config['batch-pages'],
      'batch-bytes': batchBytes,
      'batch-ms': isFlash ? unlessSet(config, 'batch-ms', flashBatchMs) : config['batch-ms'],
    },
    cacheKb: { engine: cacheKb, search: cacheKb },
    heaps: heapsFor(memory),
    pending: { bytesMax: pendingBytes, ageMsMax: isFlash ? flashPendingAgeMs : pendingAgeMs },
    // The kernel writes mapped pages back whenever it likes: on flash the filter lives in memory and is written at the end.
    bloom: isFlash ? 'memory' : 'mapped',
    usesKeywordModel: memory >= usualMb,
    gaveUp,
  }
}

/**
 * For whatever may crawl or import: a promise that cannot be kept is not given. Who only reads takes what there is.
 * @throws AppError usage
 */
export function refuseTooLittle({ memory }: Config): void {
  if (memory >= leastMb) return
  throw new AppError(
    'usage',
    `--memory ${memory} cannot be kept: with ${leastMb} MB fewer pages are fetched at a time, caches, heaps and commits are half of the usual, and English keywords need no model; what is left is V8 with four threads. Give --memory ${leastMb} or more.`,
  )
}

const scaled = (memory: number, usual: number): number =>
  memory >= usualMb ? usual : memory >= halfMb ? usual / 2 : usual / 4

/** No limit from 256 MB on; below, 4 at 192 and 2 at 128. */
const connectionsFor = (memory: number): number =>
  memory >= usualMb ? settings.connections.max : Math.max(2, Math.floor((memory - 64) / 32))

/** Up to two cores one parser is enough: engine and parser fill them. Each costs about 40 MB. */
function parsersFor(memory: number, cores: number): number {
  if (memory < usualMb || cores <= 2) return 1
  return Math.min(parsersMax, cores - 1, 2 + Math.floor((memory - usualMb) / 128))
}

const cacheKbFor = (memory: number): number =>
  Math.min(cacheKbMax, Math.max(cacheKbMin, Math.floor((memory - threadsMb) / 8) * 1_024))

/**
 * Close to what is used: V8 lets a heap grow by less when its limit is near, which costs little time and spares 20-30 MB at the peak.
 * Young generations stay small, because every thread has one.
 */
function heapsFor(memory: number): Profile['heaps'] {
  const young = 2 * scaled(memory, 4)
  const heap = (share: number, least: number, youngMb: number): ResourceLimits => ({
    maxOldGenerationSizeMb: Math.max(least, Math.floor(memory * share)),
    maxYoungGenerationSizeMb: youngMb,
  })
  return {
    engine: heap(72 / 256, 72, young),
    search: heap(128 / 256, 80, memory > usualMb ? young : young / 2),
    // One hostile page must not take what a large machine has; the model of the keywords needs what there is. What a page leaves behind
    // dies young where there is room for some pages: 18 % less CPU time in the parser than with 6 MB, and 4 MB more at the peak.
    parser: { maxOldGenerationSizeMb: 80, maxYoungGenerationSizeMb: memory < usualMb ? 6 : 16 },
  }
}

/** A setting that still has its default is taken for one that nobody set. */
const unlessSet = (config: Config, name: 'batch-pages' | 'batch-ms', value: number): number =>
  config[name] === settings[name].default ? value : config[name]
