/** Every setting in one table: name, type, default, limits, one sentence. Flags beat FINDLING_* beats the file beats the default. */
import { AppError } from './lib/errors.ts'
import { radiusDefault, radiusMax } from './lib/simhash.ts'

type Common = { about: string; secret?: true }
type Setting = Common &
  (
    | { type: 'text'; default: string }
    | { type: 'list'; default: readonly string[] }
    | { type: 'choice'; default: string; of: readonly string[] }
    | { type: 'integer'; default: number; min: number; max: number }
  )

const MiB = 1024 * 1024

export const settings = {
  data: {
    type: 'text',
    default: './findling-data',
    about: 'Directory of everything Findling keeps.',
  },
  listen: {
    type: 'text',
    default: '127.0.0.1:8080',
    about: 'HOST:PORT of the search page and API.',
  },
  'host-names': {
    type: 'list',
    default: [],
    about: 'Host names under which the server may be asked, besides IP addresses and localhost.',
  },
  'allow-private': {
    type: 'list',
    default: [],
    about: 'Private address ranges (CIDR) that may be crawled.',
  },
  sources: {
    type: 'text',
    default: '',
    about: 'File of described sources (JSON or TOML, see docs/SOURCES.md) to crawl.',
  },
  filters: {
    type: 'text',
    default: '',
    about: 'Folder of word lists (default DATA/filters): what they drop, mask or flag.',
  },
  contact: {
    type: 'text',
    default: '',
    about: 'Mail address or page named in the User-Agent, for owners of crawled sites.',
  },
  'user-agent': { type: 'text', default: '', about: 'User-Agent instead of the honest default.' },
  key: {
    type: 'text',
    default: '',
    secret: true,
    about: 'Administration key (default: made at the first start, kept in DATA/admin.key).',
  },
  memory: {
    type: 'integer',
    default: 256,
    min: 128,
    max: 65_536,
    about: 'Memory to stay under, in MB: sizes caches, heaps and threads.',
  },
  flash: {
    type: 'choice',
    default: 'auto',
    of: ['auto', 'on', 'off'],
    about:
      'Spares a flash card: larger and rarer commits. auto: where the data lies on one (mmcblk).',
  },
  connections: {
    type: 'integer',
    default: 8,
    min: 1,
    max: 64,
    about: 'Requests under way at a time, over all hosts.',
  },
  'host-connections': {
    type: 'integer',
    default: 1,
    min: 1,
    max: 8,
    about: 'Requests under way at a time to one host.',
  },
  parsers: {
    type: 'integer',
    default: 0,
    min: 0,
    max: 16,
    about: 'Parser threads (0 = by the number of cores).',
  },
  'fetch-timeout-ms': {
    type: 'integer',
    default: 30_000,
    min: 500,
    max: 600_000,
    about: 'Total time of one request.',
  },
  'retry-ms': {
    type: 'integer',
    default: 2_000,
    min: 1,
    max: 3_600_000,
    about: 'Wait before a failed request is tried again; each further wait is four times as long.',
  },
  'parse-timeout-ms': {
    type: 'integer',
    default: 5_000,
    min: 200,
    max: 60_000,
    about:
      'Time for one page in a parser thread; while other programs keep the cores busy, up to six times as long.',
  },
  'wire-bytes-max': {
    type: 'integer',
    default: 5 * MiB,
    min: 1_024,
    max: 256 * MiB,
    about: 'Longest body as received.',
  },
  'body-bytes-max': {
    type: 'integer',
    default: 5 * MiB,
    min: 1_024,
    max: 256 * MiB,
    about: 'Longest body when decoded.',
  },
  'links-max': {
    type: 'integer',
    default: 5_000,
    min: 1,
    max: 100_000,
    about: 'Links taken from one page.',
  },
  'recrawl-days': {
    type: 'integer',
    default: 30,
    min: 1,
    max: 3_650,
    about: 'Days after which a page is visited again.',
  },
  recrawl: {
    type: 'choice',
    default: 'adaptive',
    of: ['adaptive', 'fixed'],
    about:
      'adaptive: a page that changes is visited more often, one that does not more rarely, from recrawl-days on.',
  },
  'recrawl-hours-min': {
    type: 'integer',
    default: 1,
    min: 1,
    max: 8_760,
    about: 'Shortest time between two visits to a page, also where a sitemap says that it changed.',
  },
  'simhash-radius': {
    type: 'integer',
    default: radiusDefault,
    min: 0,
    max: radiusMax,
    about:
      'Pages whose SimHashes differ in no more bits are compared as copies, beside those that share rare phrases. No memory; beyond 3, time.',
  },
  'gone-hours': {
    type: 'integer',
    default: 24,
    min: 0,
    max: 8_760,
    about: 'A stored page that answers 404 is looked for once more after this, then removed.',
  },
  sitemaps: {
    type: 'choice',
    default: 'auto',
    of: ['auto', 'named', 'off'],
    about:
      'auto: sitemaps that robots.txt names, else /sitemap.xml is tried; and feeds that pages name. named: no trying. off: none.',
  },
  'lists-max': {
    type: 'integer',
    default: 1_000,
    min: 1,
    max: 100_000,
    about: 'Sitemaps and feeds read of one host.',
  },
  'batch-pages': {
    type: 'integer',
    default: 100,
    min: 1,
    max: 5_000,
    about: 'Pages in one commit.',
  },
  'batch-bytes': {
    type: 'integer',
    default: 4 * MiB,
    min: 65_536,
    max: 64 * MiB,
    about: 'Bytes in one commit.',
  },
  'batch-ms': {
    type: 'integer',
    default: 2_000,
    min: 10,
    max: 120_000,
    about: 'Longest wait before a commit.',
  },
  'search-queue': {
    type: 'integer',
    default: 16,
    min: 1,
    max: 1_024,
    about: 'Queries waiting at a time; more are answered 503.',
  },
  'search-deadline-ms': {
    type: 'integer',
    default: 1_000,
    min: 50,
    max: 60_000,
    about: 'Time for one query.',
  },
  'disk-free-mb': {
    type: 'integer',
    default: 200,
    min: 1,
    max: 1_000_000,
    about: 'Free room below which the crawl pauses.',
  },
  'remember-queries': {
    type: 'choice',
    default: 'on',
    of: ['on', 'off'],
    about:
      'on: queries that found something are counted, not by whom, and frequent ones are suggested. off: what was counted is forgotten.',
  },
  log: {
    type: 'choice',
    default: 'text',
    of: ['text', 'json'],
    about: 'Form of the log lines on stderr.',
  },
  'log-level': {
    type: 'choice',
    default: 'info',
    of: ['debug', 'info', 'warn', 'error'],
    about: 'Least level that is logged.',
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
type ValueOf<S extends Setting> = S extends { type: 'integer' }
  ? number
  : S extends { type: 'list' }
    ? readonly string[]
    : string
export type Config = { readonly [N in SettingName]: ValueOf<(typeof settings)[N]> }
export type Origin = 'default' | 'file' | 'environment' | 'flag'

const entries = Object.entries(settings) as [SettingName, Setting][]
export const isSettingName = (name: string): name is SettingName => Object.hasOwn(settings, name)
export const environmentName = (name: SettingName): string =>
  `FINDLING_${name.toUpperCase().replaceAll('-', '_')}`

function parseValue(name: SettingName, setting: Setting, given: unknown): Config[SettingName] {
  const wrong = (what: string): AppError => new AppError('config_invalid', `${name}: ${what}`)
  if (setting.type === 'list') {
    const list = Array.isArray(given) ? given.map(String) : String(given).split(',')
    return list.map((item) => item.trim()).filter((item) => item !== '')
  }
  if (typeof given !== 'string' && typeof given !== 'number')
    throw wrong('a text or number is wanted')
  if (setting.type === 'integer') {
    const value = Number(given)
    if (!Number.isInteger(value) || String(given).trim() === '')
      throw wrong(`${String(given)} is no whole number`)
    if (value < setting.min || value > setting.max)
      throw wrong(`${value} is outside ${setting.min}..${setting.max}`)
    return value
  }
  const text = String(given)
  if (setting.type === 'choice' && !setting.of.includes(text))
    throw wrong(`${text} is none of ${setting.of.join(', ')}`)
  return text
}

export type LoadedConfig = { config: Config; origins: Record<SettingName, Origin> }

/**
 * @param flags by setting name, as the command line gave them
 * @param fileText the configuration file: a JSON object of settings; null = none
 * @throws AppError config_invalid, naming the setting
 */
export function loadConfig(
  flags: Record<string, unknown>,
  environment: Record<string, string | undefined>,
  fileText: string | null,
): LoadedConfig {
  const file = fileText === null ? {} : parseFile(fileText)
  const config: Record<string, unknown> = {}
  const origins = {} as Record<SettingName, Origin>
  for (const [name, setting] of entries) {
    const candidates: [Origin, unknown][] = [
      ['flag', flags[name]],
      ['environment', environment[environmentName(name)]],
      ['file', file[name]],
    ]
    const [origin, given] = candidates.find(([, value]) => value !== undefined) ?? [
      'default',
      setting.default,
    ]
    config[name] = origin === 'default' ? setting.default : parseValue(name, setting, given)
    origins[name] = origin
  }
  return {
    config: Object.freeze(config) as Config,
    origins,
  }
}

function parseFile(text: string): Record<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new AppError(
      'config_invalid',
      `the configuration file is no JSON: ${(error as Error).message}`,
      { cause: error },
    )
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new AppError('config_invalid', 'the configuration file must hold one JSON object')
  const unknown = Object.keys(parsed).find((name) => !isSettingName(name))
  if (unknown !== undefined)
    throw new AppError(
      'config_invalid',
      `the configuration file has an unknown setting "${unknown}"`,
    )
  return parsed as Record<string, unknown>
}

/** HOST:PORT, [IPv6]:PORT. */
export function parseListen(listen: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(listen)
  const port = Number(match?.[3])
  if (match === null || port > 65_535)
    throw new AppError('config_invalid', `listen: "${listen}" is not HOST:PORT`)
  return { host: match[1] ?? (match[2] === '' ? '127.0.0.1' : (match[2] ?? '')), port }
}

const shown = (value: unknown): string => (Array.isArray(value) ? value.join(',') : String(value))

/** One line a setting: name, value, where it came from. Secrets are masked. */
export function describeConfig({
  config,
  origins,
}: LoadedConfig): { name: SettingName; value: string; origin: Origin }[] {
  return entries.map(([name, setting]) => ({
    name,
    value: setting.secret === true && config[name] !== '' ? '***' : shown(config[name]),
    origin: origins[name],
  }))
}

/** docs/CONFIG.md, compared with the file by a test. */
export function configDocument(): string {
  const rows = entries.map(([name, setting]) => {
    const bounds =
      setting.type === 'integer'
        ? ` (${setting.min}..${setting.max})`
        : setting.type === 'choice'
          ? ` (${setting.of.join(', ')})`
          : ''
    return `| \`--${name}\` | \`${environmentName(name)}\` | ${setting.type}${bounds} | ${shown(setting.default) || '-'} | ${setting.about} |`
  })
  return `# Settings

Flags beat environment variables beat the configuration file (JSON, \`--config FILE\` or \`FINDLING_CONFIG\`) beat the defaults.
\`findling config\` prints each value and where it came from. This page is compared with the code by a test.

| flag | environment | type | default | meaning |
|---|---|---|---|---|
${rows.join('\n')}
`
}
