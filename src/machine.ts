/** What the machine is like: its cores, and whether a directory lies on a flash card. Linux; elsewhere nothing is a card. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Machine } from './memory.ts'

/** @param flash the setting: auto = look */
export function machineOf(directory: string, flash: string): Machine {
  const isFlash = flash === 'auto' ? isOnCard(directory) : flash === 'on'
  return { cores: availableParallelism(), isFlash }
}

/**
 * Whether a directory, which need not exist yet, lies on a device mmcblkN (SD card, eMMC), also through a mapped or encrypted one.
 * @param root where proc and sys are; a test has its own
 */
export function isOnCard(directory: string, root = '/'): boolean {
  let mounts: string
  try {
    mounts = readFileSync(join(root, 'proc/self/mountinfo'), 'utf8')
  } catch {
    // Not Linux, or hidden from us.
    return false
  }
  const mount = mountOf(mounts, realPath(directory))
  if (mount === null) return false
  return isCardName(mount.source) || isCardDevice(join(root, 'sys/dev/block', mount.device))
}

const cardName = /\/mmcblk\d/
const isCardName = (path: string): boolean => cardName.test(path)

/** The device itself, or one that it is made of. */
function isCardDevice(device: string): boolean {
  if (!existsSync(device)) return false
  const path = realpathSync(device)
  if (isCardName(path)) return true
  const parts = join(path, 'slaves')
  return existsSync(parts) && readdirSync(parts).some((name) => isCardName(`/${name}`))
}

/** Of the nearest parent that exists. */
function realPath(directory: string): string {
  let path = resolve(directory)
  while (!existsSync(path) && path !== dirname(path)) path = dirname(path)
  return realpathSync(path)
}

type Mount = { device: string; source: string }

/**
 * The mount that a path lies on. A line (proc(5)): id, parent, major:minor, root, mount point, options, any number of tags, "-",
 * type, source, options. The last of those with the longest mount point covers the others.
 */
export function mountOf(mountinfo: string, path: string): Mount | null {
  let best: (Mount & { point: string }) | null = null
  for (const line of mountinfo.split('\n')) {
    const fields = line.split(' ')
    const [, , device, , escapedPoint] = fields
    const source = fields[fields.indexOf('-', 6) + 2]
    if (device === undefined || escapedPoint === undefined || source === undefined) continue
    const point = unescape(escapedPoint)
    const covers = point === '/' || path === point || path.startsWith(`${point}/`)
    if (covers && point.length >= (best?.point.length ?? 0)) best = { device, source, point }
  }
  return best
}

/** Spaces and their like are octal there. */
const unescape = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
