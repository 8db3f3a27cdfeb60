/** One structured line per event on stderr: text for people, JSON for machines. stdout belongs to data. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Record<string, string | number | boolean | null | undefined>
export type Log = (level: LogLevel, event: string, fields?: LogFields) => void

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
const quoted = (value: unknown): string => {
  const text = String(value)
  return /^[\w./:@-]+$/.test(text) ? text : JSON.stringify(text)
}

/** @param write takes one whole line with its line feed. */
export function createLog(
  format: 'text' | 'json',
  least: LogLevel,
  write: (line: string) => void = (line) => process.stderr.write(line),
): Log {
  return (level, event, fields = {}) => {
    if (order.indexOf(level) < order.indexOf(least)) return
    const time = new Date().toISOString()
    if (format === 'json') return write(`${JSON.stringify({ time, level, event, ...fields })}\n`)
    const tail = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ` ${name}=${quoted(value)}`)
      .join('')
    write(`${time.slice(11, 19)} ${level.padEnd(5)} ${event}${tail}\n`)
  }
}
