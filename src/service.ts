/** Findling as a systemd service: the text of its unit, and what installing, removing and asking for it does. Runs no command by itself. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { environmentName, parseListen, type LoadedConfig, type SettingName } from './config.ts'
import { AppError } from './lib/errors.ts'

export const serviceName = 'findling'
export const serviceUnitFile = `/etc/systemd/system/${serviceName}.service`
/** Where the binary is expected when nothing else is known. */
export const usualExecutable = '/usr/local/bin/findling'
const stateDirectory = `/var/lib/${serviceName}`
const environmentFile = `/etc/${serviceName}/env`

/** Of the memory setting: from here on the kernel slows the service down, or ends it. 300 and 400 MB at 256. */
const memoryHighShare = 300 / 256
const memoryMaxShare = 400 / 256
/** Exit codes after which another start would fail the same way: usage, input, no directory, configuration. */
const hopelessExits = '64 65 66 73 78'

/** Settings that decide where the service keeps and hides things are its own. */
const refusedSettings: Readonly<Partial<Record<SettingName, string>>> = {
  data: `The service keeps its data in ${stateDirectory}: leave out --data.`,
  key: `A unit file can be read by everybody: leave out --key and write FINDLING_KEY=... into ${environmentFile} (mode 0600).`,
}

/**
 * The unit. Flags become its environment, which the administrator's file may overrule.
 * @throws AppError usage where a setting cannot be the service's
 */
export function serviceUnit(executable: string, { config, origins }: LoadedConfig): string {
  const given = (Object.keys(origins) as SettingName[]).filter((name) => origins[name] === 'flag')
  for (const name of given) {
    const refusal = refusedSettings[name]
    if (refusal !== undefined) throw new AppError('usage', refusal)
  }
  const environment = new Map<SettingName, string>([['listen', config.listen]])
  for (const name of given) environment.set(name, String(config[name]))
  const isLowPort = parseListen(config.listen).port < 1_024
  const capabilities = isLowPort ? 'CAP_NET_BIND_SERVICE' : ''
  return `[Unit]
Description=Findling, a search appliance
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${quoted(executable.replaceAll('$', '$$$$'))} serve --data ${stateDirectory}
${[...environment].map(([name, value]) => `Environment=${quoted(`${environmentName(name)}=${value}`)}`).join('\n')}
EnvironmentFile=-${environmentFile}
DynamicUser=yes
StateDirectory=${serviceName}
StateDirectoryMode=0700
UMask=0077
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=${hopelessExits}
KillSignal=SIGTERM
TimeoutStopSec=30
MemoryHigh=${Math.ceil(config.memory * memoryHighShare)}M
MemoryMax=${Math.ceil(config.memory * memoryMaxShare)}M
CPUWeight=50
IOWeight=50
Nice=5
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
CapabilityBoundingSet=${capabilities}
AmbientCapabilities=${capabilities}
# MemoryDenyWriteExecute stays off: V8 compiles at run time.

[Install]
WantedBy=multi-user.target
`
}

/** One word of a unit file. @throws AppError usage for control characters, which would begin another line */
function quoted(text: string): string {
  if (/[^ -\uffff]/.test(text))
    throw new AppError('usage', 'A unit file holds no control characters.')
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')
  return /^[\w./:=@,+-]+$/.test(escaped) ? escaped : `"${escaped}"`
}

/** Why the service could not start this file, as it would not see it; null where it could. */
export function unreachableReason(executable: string): string | null {
  if (/^\/(?:home|root|run\/user)\//.test(executable)) return 'the service sees no home directories'
  return /^\/(?:tmp|var\/tmp|dev\/shm)\//.test(executable)
    ? 'the service has a temporary folder of its own'
    : null
}

/** What of the system is touched; a test has its own. */
export type Systemd = {
  unitFile: string
  /** It is what this system was started with. */
  isRunning: () => boolean
  /** Runs systemctl and answers its exit code and output; null where there is none. */
  control: (...words: string[]) => { code: number; text: string } | null
}

/** @returns a line for each thing done. @throws AppError cannot_create */
export function installService(systemd: Systemd, unit: string): string[] {
  const { unitFile } = systemd
  const wasThere = existsSync(unitFile)
  requireSystemd(systemd)
  try {
    writeFileSync(`${unitFile}.new`, unit, { mode: 0o644 })
    renameSync(`${unitFile}.new`, unitFile)
  } catch (error) {
    throw new AppError('cannot_create', `${unitFile} cannot be written: run this as root (sudo).`, {
      cause: error,
    })
  }
  orThrow(systemd, 'daemon-reload')
  orThrow(systemd, 'enable', serviceName)
  // Also where it runs: it takes the new unit.
  orThrow(systemd, 'restart', serviceName)
  return [
    `${wasThere ? 'replaced' : 'wrote'} ${unitFile}`,
    'enabled at boot, started',
    `data: ${stateDirectory}; settings and secrets: ${environmentFile} (FINDLING_* lines)`,
    `log, with the administration key at the first start: journalctl -u ${serviceName}`,
  ]
}

/** The second call does nothing. @returns a line for each thing done. @throws AppError cannot_create */
export function uninstallService(systemd: Systemd): string[] {
  const { unitFile } = systemd
  if (!existsSync(unitFile)) return ['the service is not installed']
  requireSystemd(systemd)
  orThrow(systemd, 'disable', '--now', serviceName)
  try {
    rmSync(unitFile)
  } catch (error) {
    throw new AppError('cannot_create', `${unitFile} cannot be removed: run this as root (sudo).`, {
      cause: error,
    })
  }
  orThrow(systemd, 'daemon-reload')
  return [
    'stopped, no longer started at boot',
    `removed ${unitFile}`,
    `data stays in ${stateDirectory}`,
  ]
}

export type ServiceStatus = { state: 'running' | 'stopped' | 'not installed'; detail: string }

export function serviceStatus(systemd: Systemd): ServiceStatus {
  if (!existsSync(systemd.unitFile)) return { state: 'not installed', detail: systemd.unitFile }
  const detail = systemd.control('is-active', serviceName)?.text.trim() ?? 'no systemctl'
  const isRunning = detail === 'active' || detail === 'reloading'
  return { state: isRunning ? 'running' : 'stopped', detail }
}

function requireSystemd(systemd: Systemd): void {
  if (systemd.control('--version') === null || !systemd.isRunning())
    throw new AppError('cannot_create', 'This system was not started by systemd.', {
      remedy:
        'Start `findling serve` by what starts services here, or see the unit with `findling service install --print`.',
    })
}

function orThrow(systemd: Systemd, ...words: string[]): void {
  const { code, text } = systemd.control(...words) ?? { code: 127, text: 'no systemctl' }
  if (code !== 0)
    throw new AppError(
      'cannot_create',
      `systemctl ${words.join(' ')} failed (${code}): ${text.trim()}`,
    )
}
