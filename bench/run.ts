/** `npm run bench -- NAME [ARGS]`: runs bench/NAME.ts. Each prints a table and then one last line `RESULT {json}`. Measures nothing itself. */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Not benches: what they share, and the developer's server. */
const shared = new Set([
  'run',
  'dev',
  'sites',
  'process-tree',
  'rivals',
  'made-up',
  'filled',
  'chinese',
])

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -3))
  .filter((name) => !shared.has(name))
const [name = '', ...args] = process.argv.slice(2)
if (names.includes(name)) {
  const file = join(import.meta.dirname, `${name}.ts`)
  const child = spawn(process.execPath, ['--expose-gc', file, ...args], { stdio: 'inherit' })
  child.on('close', (code) => {
    process.exitCode = code ?? 1
  })
} else {
  console.error(`Usage: npm run bench -- ${names.join('|')} [ARGS]`)
  process.exitCode = 64
}
