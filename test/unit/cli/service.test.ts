/** The systemd service: its unit as systemd itself judges it, and what installing and removing does. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { loadConfig } from '../../../src/config.ts'
import {
  installService,
  serviceStatus,
  serviceUnit,
  uninstallService,
  unreachableReason,
  type Systemd,
} from '../../../src/service.ts'

const unitFor = (flags: Record<string, unknown> = {}, executable = '/usr/local/bin/findling') =>
  serviceUnit(executable, loadConfig(flags, {}, null))

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'findling-service-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the unit', () => {
  it('has the lines that the service promises, and none that V8 cannot live with', () => {
    const lines = new Set(unitFor().split('\n'))
    const promised = [
      'ExecStart=/usr/local/bin/findling serve --data /var/lib/findling',
      'Environment=FINDLING_LISTEN=127.0.0.1:8080',
      'EnvironmentFile=-/etc/findling/env',
      'DynamicUser=yes',
      'StateDirectory=findling',
      'Restart=on-failure',
      'TimeoutStopSec=30',
      'MemoryHigh=300M',
      'MemoryMax=400M',
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'UMask=0077',
      'CapabilityBoundingSet=',
    ]
    for (const line of promised) assert.ok(lines.has(line), line)
    assert.ok(![...lines].some((line) => line.startsWith('MemoryDenyWriteExecute')))
  })

  it('takes the settings that were given, and a port below 1024 with its right', () => {
    const unit = unitFor({ listen: '0.0.0.0:80', memory: '512', contact: 'me "at" 100% home' })
    assert.match(unit, /^Environment=FINDLING_LISTEN=0\.0\.0\.0:80$/m)
    assert.match(unit, /^Environment=FINDLING_MEMORY=512$/m)
    assert.match(unit, /^Environment="FINDLING_CONTACT=me \\"at\\" 100%% home"$/m)
    assert.match(unit, /^MemoryMax=800M$/m)
    assert.match(unit, /^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m)
  })

  const refused: [string, Record<string, string>][] = [
    ['a data directory of its own', { data: '/srv/findling' }],
    ['a key that everybody could read', { key: 'secret' }],
    ['a value that would begin another line', { contact: 'a\nExecStartPre=/bin/sh' }],
  ]
  for (const [what, flags] of refused) {
    it(`refuses ${what}`, () => assert.throws(() => unitFor(flags), { code: 'usage' }))
  }

  it('is accepted by systemd-analyze, with a good security score', (t) => {
    const file = join(folder, 'findling.service')
    // A file that is there, because verify looks for it.
    writeFileSync(file, unitFor({ listen: '0.0.0.0:8080' }, process.execPath))
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
      encoding: 'utf8',
    })
    if (verified.error !== undefined) return t.skip('no systemd-analyze here')
    assert.deepEqual([verified.status, verified.stderr], [0, ''])
    const judged = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', '--no-pager', file],
      {
        encoding: 'utf8',
      },
    )
    const score = /exposure level for \S+: ([\d.]+)/.exec(judged.stdout)?.[1]
    if (score === undefined) return t.skip(`no offline judgement here: ${judged.stderr}`)
    t.diagnostic(`systemd-analyze security: ${score} (0 is best, 10 worst)`)
    assert.ok(Number(score) <= 2, judged.stdout)
  })

  it('is not for a file that the service cannot see', () => {
    const user = ['home', 'me', 'findling'].map((name) => `/${name}`).join('')
    assert.match(unreachableReason(user) ?? '', /home/)
    assert.match(unreachableReason('/tmp/findling') ?? '', /temporary/)
    assert.equal(unreachableReason('/opt/findling/findling'), null)
  })
})

/** A systemctl that only takes notes. */
function noting(isActive: string, failing = ''): { systemd: Systemd; calls: string[] } {
  const calls: string[] = []
  return {
    calls,
    systemd: {
      unitFile: join(folder, 'findling.service'),
      isRunning: () => true,
      control: (...words) => {
        calls.push(words.join(' '))
        if (words[0] === 'is-active')
          return { code: isActive === 'active' ? 0 : 3, text: `${isActive}\n` }
        return words[0] === failing ? { code: 1, text: 'denied' } : { code: 0, text: '' }
      },
    },
  }
}

describe('the service', () => {
  it('is installed, asked for and removed', () => {
    const { systemd, calls } = noting('active')
    assert.equal(serviceStatus(systemd).state, 'not installed')
    assert.match(
      installService(systemd, unitFor()).join('\n'),
      /^wrote .*findling\.service\nenabled/,
    )
    assert.equal(readFileSync(systemd.unitFile, 'utf8'), unitFor())
    assert.equal(serviceStatus(systemd).state, 'running')
    assert.equal(serviceStatus(noting('failed').systemd).state, 'stopped')
    assert.match(installService(systemd, unitFor()).join('\n'), /^replaced/)
    assert.match(uninstallService(systemd).join('\n'), /data stays/)
    assert.ok(!existsSync(systemd.unitFile))
    assert.deepEqual(uninstallService(systemd), ['the service is not installed'])
    assert.deepEqual(calls, [
      '--version',
      'daemon-reload',
      'enable findling',
      'restart findling',
      'is-active findling',
      '--version',
      'daemon-reload',
      'enable findling',
      'restart findling',
      '--version',
      'disable --now findling',
      'daemon-reload',
    ])
  })

  it('says which step failed', () => {
    const { systemd } = noting('inactive', 'enable')
    assert.throws(() => installService(systemd, unitFor()), {
      code: 'cannot_create',
      message: /systemctl enable findling failed \(1\): denied/,
    })
  })

  it('needs systemd, and a folder that may be written', () => {
    const unitFile = join(folder, 'none', 'findling.service')
    const absent: Systemd = { unitFile, isRunning: () => true, control: () => null }
    const present: Systemd = { ...absent, control: () => ({ code: 0, text: '' }) }
    // A container may have systemctl, and nothing that it could speak to.
    const asleep: Systemd = { ...present, unitFile: join(folder, 'asleep'), isRunning: () => false }
    for (const systemd of [absent, asleep]) {
      assert.throws(() => installService(systemd, ''), /not started by systemd/)
      assert.ok(!existsSync(systemd.unitFile), 'nothing is left behind')
    }
    assert.throws(() => installService(present, ''), /run this as root/)
  })
})
