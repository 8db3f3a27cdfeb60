/** `findling service install|uninstall|status`: runs systemctl, prints what was done. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isPackaged } from '../assets.ts'
import { AppError } from '../lib/errors.ts'
import {
  installService,
  serviceStatus,
  serviceUnit,
  serviceUnitFile,
  uninstallService,
  unreachableReason,
  usualExecutable,
  type Systemd,
} from '../service.ts'
import { formatOf, write, type Call } from './command.ts'

/** As `systemctl status` has them. */
const exitCodes = { running: 0, stopped: 3, 'not installed': 4 } as const

const systemd: Systemd = {
  unitFile: serviceUnitFile,
  // As sd_booted(3) asks.
  isRunning: () => existsSync('/run/systemd/system'),
  control(...words) {
    const { error, status, stdout, stderr } = spawnSync('systemctl', words, { encoding: 'utf8' })
    return error === undefined ? { code: status ?? 1, text: `${stdout}${stderr}` } : null
  },
}

export async function serviceCommand(call: Call): Promise<number> {
  const action = call.operands[0]
  const isJson = formatOf(call, 'text') !== 'text'
  if (action === 'status') {
    const status = serviceStatus(systemd)
    await write(isJson ? `${JSON.stringify(status)}\n` : `${status.state} (${status.detail})\n`)
    return exitCodes[status.state]
  }
  if (action === 'install' && call.options['print'] === true) {
    await write(serviceUnit(isPackaged ? process.execPath : usualExecutable, call.loaded))
    return 0
  }
  if (action !== 'install' && action !== 'uninstall')
    throw new AppError('usage', `service ${action}: install, uninstall or status is wanted.`)
  const done =
    action === 'install'
      ? installService(systemd, serviceUnit(ownExecutable(), call.loaded))
      : uninstallService(systemd)
  await write(isJson ? `${JSON.stringify({ done })}\n` : `${done.join('\n')}\n`)
  return 0
}

/** @throws AppError cannot_create where the service could not start it */
function ownExecutable(): string {
  if (!isPackaged)
    throw new AppError(
      'cannot_create',
      `This Findling runs from its sources, a service needs the one file: make it with \`npm run build\`, put it to ${usualExecutable}, and run \`${usualExecutable} service install\`.`,
    )
  const reason = unreachableReason(process.execPath)
  if (reason === null) return process.execPath
  throw new AppError(
    'cannot_create',
    `${process.execPath}: ${reason}. Run \`install -m 755 ${process.execPath} ${usualExecutable}\`, then \`${usualExecutable} service install\`.`,
  )
}
