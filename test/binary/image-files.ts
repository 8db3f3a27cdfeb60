/** What the image holds besides the executable, and where a Debian system has it. */
import { existsSync, readdirSync } from 'node:fs'

export const libraries = [
  'libc.so.6',
  'libm.so.6',
  'libdl.so.2',
  'libpthread.so.0',
  'librt.so.1',
  'libgcc_s.so.1',
  'libstdc++.so.6',
]
/** Path on this machine -> name in /licenses. */
export const notices: Readonly<Record<string, string>> = {
  '/usr/share/doc/libc6/copyright': 'libc6',
  '/usr/share/doc/libgcc-s1/copyright': 'libgcc-s1',
  '/usr/share/doc/libstdc++6/copyright': 'libstdc++6',
  '/usr/share/common-licenses/LGPL-2.1': 'LGPL-2.1',
  '/usr/share/common-licenses/GPL-3': 'GPL-3',
}
export const [triplet, loader] =
  process.arch === 'arm64'
    ? ['aarch64-linux-gnu', '/lib/ld-linux-aarch64.so.1']
    : ['x86_64-linux-gnu', '/lib64/ld-linux-x86-64.so.2']

/** What of it this system keeps elsewhere or has not at all; false where it is complete. */
export function systemLacks(): string | false {
  const folder = `/lib/${triplet}`
  const missing = libraries.find(
    (name) =>
      !name.startsWith('libstdc') && !(existsSync(folder) && readdirSync(folder).includes(name)),
  )
  if (missing !== undefined) return `this system keeps ${missing} elsewhere`
  const notice = Object.keys(notices).find((file) => !existsSync(file))
  return notice === undefined ? false : `this system has no ${notice}`
}
