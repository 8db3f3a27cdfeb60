/** The command line: reads arguments and settings, runs one command, turns failures into one line and an exit code. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { programVersion } from '../assets.ts'
import type { Command, CommandOption } from './command.ts'
import { commands } from './commands.ts'
import { isSettingName, loadConfig, settings, type LoadedConfig } from '../config.ts'
import { AppError } from '../lib/errors.ts'
import { createLog, type LogLevel } from '../lib/log.ts'

export type Invocation = {
  command: Command
  name: string
  operands: string[]
  options: Record<string, string | boolean | string[] | undefined>
  loaded: LoadedConfig
}

export async function runCommandLine(args: readonly string[]): Promise<void> {
  // A reader that closes early (head, less) ends the program quietly.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? 0 : 74),
  )
  try {
    if (wantsHelp(args)) {
      process.stdout.write(helpText(args.find((arg) => arg in commands)))
      return
    }
    const invocation = readInvocation(args, process.env)
    const { config } = invocation.loaded
    const log = createLog(config.log === 'json' ? 'json' : 'text', config['log-level'] as LogLevel)
    process.exitCode = await invocation.command.run({
      ...invocation,
      config,
      log,
      directory: config.data,
    })
  } catch (error) {
    process.exitCode = reportFailure(error)
  }
}

const wantsHelp = (args: readonly string[]): boolean =>
  args.includes('--help') || args.includes('-h') || args[0] === 'help'

/** @throws AppError usage | config_invalid | input_missing */
export function readInvocation(
  args: readonly string[],
  environment: Record<string, string | undefined>,
): Invocation {
  const name = commandName(args)
  const command = commands[name]
  if (command === undefined) throw new AppError('usage', `There is no command "${name}".`)
  const { values, positionals } = parse(args, command)
  const operands = positionals[0] === name ? positionals.slice(1) : positionals
  const [least, most] = command.operands
  if (operands.length < least)
    throw new AppError('usage', `${name} needs ${command.synopsis || 'an operand'}.`)
  if (operands.length > most)
    throw new AppError(
      'usage',
      `${name} takes ${most === 0 ? 'no operands' : command.synopsis}: "${operands[most]}" is too many.`,
    )
  const flags = Object.fromEntries(
    Object.entries(values).filter(([option]) => isSettingName(option)),
  )
  return {
    command,
    name,
    operands,
    options: values,
    loaded: loadConfig(flags, environment, readConfigFile(values, environment)),
  }
}

/** The first word that is no option and no option's value; `serve` where there is none. */
function commandName(args: readonly string[]): string {
  const options = Object.assign({}, ...Object.values(commands).map(optionsOf)) as Options
  const { tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  // The word after a mistyped option would be taken for the command.
  const unknown = tokens.find((token) => token.kind === 'option' && !(token.name in options))
  if (unknown?.kind === 'option')
    throw new AppError('usage', `There is no option "${unknown.rawName}".`)
  return tokens.find((token) => token.kind === 'positional')?.value ?? 'serve'
}

type Options = NonNullable<ParseArgsConfig['options']>

function optionsOf(command: Command): Options {
  const options: Options = { config: { type: 'string' } }
  for (const [name, setting] of Object.entries(settings)) {
    options[name] = { type: 'string', multiple: setting.type === 'list' }
  }
  for (const [name, { type, many, short }] of Object.entries(command.options)) {
    options[name] = { type, multiple: many === true, ...(short === undefined ? {} : { short }) }
  }
  return options
}

function parse(
  args: readonly string[],
  command: Command,
): { values: Invocation['options']; positionals: string[] } {
  const options = optionsOf(command)
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
    })
    return { values: joinLists(values as Invocation['options']), positionals }
  } catch (error) {
    throw new AppError('usage', (error as Error).message, { cause: error })
  }
}

/** A list setting may be given as a,b or twice. */
const joinLists = (values: Invocation['options']): Invocation['options'] =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      Array.isArray(value) && isSettingName(name)
        ? value.flatMap((item) => item.split(','))
        : value,
    ]),
  )

function readConfigFile(
  values: Invocation['options'],
  environment: Record<string, string | undefined>,
): string | null {
  const given = values['config'] ?? environment['FINDLING_CONFIG']
  const directory =
    typeof values['data'] === 'string'
      ? values['data']
      : (environment['FINDLING_DATA'] ?? settings.data.default)
  const file = typeof given === 'string' ? given : join(directory, 'config.json')
  if (typeof given !== 'string' && !existsSync(file)) return null
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new AppError('input_missing', `The configuration file ${file} cannot be read.`, {
      cause: error,
    })
  }
}

const asSentence = (text: string): string =>
  text.replace(/\s*\n\s*/g, ' ').replace(/[^.!?]$/, '$&.')

/** One line on stderr that says what happened and what to do. A bug also shows where. */
function reportFailure(error: unknown): number {
  if (error instanceof AppError) {
    process.stderr.write(`findling: ${asSentence(error.message)} ${error.remedy}`.trimEnd() + '\n')
    return error.exitCode
  }
  const code = (error as NodeJS.ErrnoException | null)?.code ?? ''
  const isInputOutput = /^(?:E[A-Z]+|SQLITE_IOERR\w*|SQLITE_FULL)$/.test(code)
  process.stderr.write(
    `findling: ${error instanceof Error ? (isInputOutput ? error.message : (error.stack ?? error.message)) : String(error)}\n`,
  )
  return isInputOutput ? 74 : 1
}

const optionLine = (name: string, option: CommandOption): string =>
  `  ${`${option.short === undefined ? '' : `-${option.short}, `}--${name}${option.value === undefined ? '' : ` ${option.value}`}`.padEnd(28)} ${option.about}`

/** Help for one command, or for all. */
export function helpText(name: string | undefined): string {
  const command = name === undefined ? undefined : commands[name]
  const general = Object.entries(settings).map(
    ([setting, { about, default: value }]) =>
      `  ${`--${setting} ${value.toString() === '' ? '' : `(${value.toString()})`}`.padEnd(36)} ${about}`,
  )
  if (command !== undefined && name !== undefined) {
    const own = Object.entries(command.options).map(([option, about]) => optionLine(option, about))
    return `findling ${name} ${command.synopsis}\n\n${command.about}\n\n${own.length === 0 ? '' : `Options\n${own.join('\n')}\n\n`}Settings (with their defaults; also FINDLING_* variables and a configuration file)\n${general.join('\n')}\n`
  }
  const list = Object.entries(commands).map(
    ([each, { synopsis, about }]) => `  ${`${each} ${synopsis}`.padEnd(28)} ${about}`,
  )
  return `Findling ${programVersion().version}: crawls the sites you name, folds copies, serves a search page and a JSON API.

Usage: findling [COMMAND] [OPTIONS]

Commands
${list.join('\n')}

findling COMMAND --help shows the options of a command and every setting.
Exit codes: 0 ok, 1 failed, 64 usage, 65 bad input data, 66 input missing, 69 server unreachable, 73 cannot create,
74 I/O, 75 busy or locked, 78 configuration or schema too new, 130 interrupted.
`
}
