/** What every way out has of the settings: name, ranges, limits. For the engine and for trying rules out. */
import { programVersion } from './assets.ts'
import { parseListen, type Config } from './config.ts'

/** As robots.txt files name us, and the first word of the User-Agent. */
export const agentToken = 'Findling'
const headersTimeoutMs = 15_000

export const fetchLimits = (config: Config) => ({
  totalTimeoutMs: config['fetch-timeout-ms'],
  headersTimeoutMs: Math.min(config['fetch-timeout-ms'], headersTimeoutMs),
  wireBytesMax: config['wire-bytes-max'],
})

export function egressOptions(config: Config) {
  const { host, port } = parseListen(config.listen)
  const { version } = programVersion()
  const contact = config.contact === '' ? '' : `; +${config.contact}`
  return {
    allowPrivate: config['allow-private'],
    own: [{ host, port }],
    userAgent:
      config['user-agent'] === ''
        ? `${agentToken}/${version} (self-hosted search${contact})`
        : config['user-agent'],
    connections: config.connections,
  }
}
