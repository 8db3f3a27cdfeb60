/** What a command is, and the small things that all of them need: options, output, the directory opened for asking. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openApp, type App } from '../app.ts'
import { hasToCatchUp } from '../check.ts'
import type { Config, LoadedConfig } from '../config.ts'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { findServer, type Client } from './client.ts'

export type CommandOption = {
  type: 'string' | 'boolean'
  short?: string
  many?: true
  value?: string
  about: string
}
export type Call = {
  operands: readonly string[]
  options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  loaded: LoadedConfig
  config: Config
  directory: string
  log: Log
}
export type Command = {
  synopsis: string
  about: string
  /** Least and most operands. */
  operands: readonly [number, number]
  options: Readonly<Record<string, CommandOption>>
  /** Resolves to the exit code. */
  run(call: Call): Promise<number>
}

export const formatOption: CommandOption = {
  type: 'string',
  short: 'f',
  value: 'text|json|jsonl',
  about: 'Form of the output.',
}
type Format = 'text' | 'json' | 'jsonl'

export function formatOf({ options }: Call, standard: Format): Format {
  const given = options['format'] ?? standard
  if (given !== 'text' && given !== 'json' && given !== 'jsonl')
    throw new AppError('usage', `-f ${String(given)}: text, json or jsonl is wanted.`)
  return given
}

/** @throws AppError usage */
export function integerOption(
  { options }: Call,
  name: string,
  standard: number,
  min: number,
  max: number,
): number {
  const given = options[name]
  if (given === undefined) return standard
  const value = Number(given)
  if (
    typeof given !== 'string' ||
    given.trim() === '' ||
    !Number.isInteger(value) ||
    value < min ||
    value > max
  )
    throw new AppError(
      'usage',
      `--${name} ${String(given)}: a whole number from ${min} to ${max} is wanted.`,
    )
  return value
}

/** Waits while the reader is slow, so that a long export stays small in memory. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** @throws AppError input_missing */
export function requireData(directory: string): void {
  if (!existsSync(join(directory, 'findling.db')))
    throw new AppError('input_missing', `There is no Findling data in ${directory}.`)
}

const patientMs = 10_000

/** Who answers when no server runs: `search` = the search thread; `engine` = the engine, for what only the crawl knows. */
type Asked = 'search' | 'engine'

/**
 * The directory opened for asking. For a search the engine starts only where it has something to catch up with (documents that the index
 * lacks, an older schema) and nobody else holds the directory: the search thread alone starts twice as fast.
 */
async function openForReading(call: Call, asked: Asked): Promise<App> {
  const { directory, log } = call
  // Nobody else waits: one question may take its time, also on a busy machine.
  const config = {
    ...call.config,
    'search-deadline-ms': Math.max(call.config['search-deadline-ms'], patientMs),
  }
  const options = { config, directory, resumeJobs: false, search: asked === 'search', log }
  let withEngine = asked === 'engine' || hasToCatchUp(directory)
  let app: App
  try {
    app = await openApp({ ...options, engine: withEngine })
  } catch (error) {
    const isLocked = error instanceof AppError && error.code === 'locked'
    if (!isLocked || asked === 'engine') throw error
    withEngine = false
    app = await openApp({ ...options, engine: false })
  }
  try {
    await app.ready()
    // What the engine caught up with must be in the index before the question: it reaches the search thread on a way of its own.
    if (withEngine && asked === 'search') await app.engine('catchUp')
  } catch (error) {
    await app.close()
    throw error
  }
  return app
}

/** Through the running server where there is one, else with the directory opened here. */
export async function asking<T>(
  call: Call,
  throughServer: (client: Client) => Promise<T>,
  here: (app: App) => Promise<T>,
  asked: Asked = 'search',
): Promise<T> {
  const client = await findServer(call.directory, call.config.key)
  if (client !== null) return throughServer(client)
  requireData(call.directory)
  const app = await openForReading(call, asked)
  try {
    return await here(app)
  } finally {
    await app.close()
  }
}
