/** `findling backup` and `findling restore`: read the options, say what was done. */
import { programVersion } from '../assets.ts'
import { backUp } from '../backup.ts'
import { restore } from '../restore.ts'
import { AppError } from '../lib/errors.ts'
import {
  formatOf,
  integerOption,
  requireData,
  write,
  type Call,
  type CommandOption,
} from './command.ts'

const copiesMax = 10_000

export const backupOptions: Readonly<Record<string, CommandOption>> = {
  keep: {
    type: 'string',
    value: 'N',
    about: 'In a folder: only the newest N copies stay there (all).',
  },
  'with-key': {
    type: 'boolean',
    about: 'Also the administration key: whoever has the backup has the key.',
  },
}
export const restoreOptions: Readonly<Record<string, CommandOption>> = {
  force: { type: 'boolean', about: 'Moves aside what is in the data directory.' },
}

const sizeText = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
const listOf = (items: readonly string[]): string => (items.length === 0 ? '-' : items.join(', '))

export async function backupCommand(call: Call): Promise<number> {
  const format = formatOf(call, 'text')
  requireData(call.directory)
  // What is written here is as private as the directory itself.
  process.umask(0o077)
  const report = await backUp({
    directory: call.directory,
    target: call.operands[0] ?? '',
    keep: call.options['keep'] === undefined ? null : integerOption(call, 'keep', 1, 1, copiesMax),
    withKey: call.options['with-key'] === true,
    program: programVersion().version,
    now: new Date(),
  })
  const { file, bytes, files, schema, secretsLeftOut, removed, faults } = report
  if (format === 'text') {
    await write(`backup     ${file} (${sizeText(bytes)})\n`)
    await write(
      `contents   ${listOf(files.map((each) => `${each.name} ${sizeText(each.bytes)}`))}\n`,
    )
    await write(`schema     ${schema}\n`)
    await write(`left out   ${listOf(secretsLeftOut)}\n`)
    await write(`removed    ${listOf(removed)}\n`)
    for (const fault of faults) await write(`wrong      ${fault}\n`)
  } else await write(`${JSON.stringify(report)}\n`)
  if (faults.length === 0) return 0
  throw new AppError(
    'corrupt',
    `${call.directory} is damaged (${faults.length} problems): this backup holds the damage and cannot be restored.`,
  )
}

export async function restoreCommand(call: Call): Promise<number> {
  const format = formatOf(call, 'text')
  const report = await restore({
    file: call.operands[0] ?? '',
    directory: call.directory,
    force: call.options['force'] === true,
    now: new Date(),
  })
  if (format !== 'text') {
    await write(`${JSON.stringify(report)}\n`)
    return 0
  }
  await write(`restored   ${report.directory}, as it was at ${report.created}\n`)
  await write(`contents   ${report.files.map(({ name }) => name).join(', ')}\n`)
  await write(`before     ${report.movedTo ?? 'nothing was there'}\n`)
  return 0
}
