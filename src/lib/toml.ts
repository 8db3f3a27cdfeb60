/** TOML as plain values (door to smol-toml). */
import { parse, TomlError } from 'smol-toml'

/** What a TOML text says, or where it is none. */
export function parseToml(text: string): { value: unknown } | { line: number; problem: string } {
  try {
    // Its tables have no prototype and its dates are objects: JSON has neither.
    return { value: JSON.parse(JSON.stringify(parse(text, { maxDepth: 50 }))) as unknown }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    return { line: error.line, problem: error.message.split('\n', 1)[0] ?? '' }
  }
}
