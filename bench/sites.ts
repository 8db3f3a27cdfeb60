/** The real sites that benches crawl: fetched once into a cache below the temporary folder, served on loopback by a process of their own. */
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export type SiteSet = 'small' | 'medium'
export type RealSite = {
  set: string
  name: string
  lang: string
  seed: string
  /** Path that everything in scope begins with. */
  prefix: string
  pages: number
}
export type ServedSites = { origin: string; sites: readonly RealSite[]; close(): void }

/** The kit beside the checkout: SITES_KIT, or ../shared/sites. */
const kit = resolve(process.env['SITES_KIT'] ?? join(import.meta.dirname, '../../shared/sites'))

/** Why the sites cannot be had here, or null. */
export const missingKit = (): string | null =>
  existsSync(join(kit, 'serve.mjs')) ? null : `there is no ${kit}`

/** The rows of sets.md. */
export function listSites(set: SiteSet): RealSite[] {
  return readFileSync(join(kit, 'sets.md'), 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells[1] === set && cells[4]?.startsWith('/'))
    .map(([, , name = '', lang = '', seed = '', prefix = '', pages = '']) => ({
      set,
      name,
      lang,
      seed,
      prefix: prefix.startsWith('/') ? prefix : seed.slice(0, seed.lastIndexOf('/') + 1),
      pages: Number(pages.replaceAll(',', '')),
    }))
}

/** The folder that holds the sites, fetched first where any is missing. Default: SITES_DIR, else a cache below the temporary folder. */
export function sitesFolder(
  set: SiteSet,
  directory = process.env['SITES_DIR'] ?? join(tmpdir(), 'findling-sites'),
): string {
  if (listSites(set).some(({ seed }) => !existsSync(directory + seed)))
    execFileSync('bash', [join(kit, 'get.sh'), directory, set], { stdio: ['ignore', 2, 2] })
  return directory
}

/** @param directory as of `sitesFolder` */
export async function serveSites(set: SiteSet, directory?: string): Promise<ServedSites> {
  const sites = listSites(set)
  const folder = sitesFolder(set, directory)
  const child = spawn(process.execPath, [join(kit, 'serve.mjs'), folder, '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const origin = await firstLine(child)
  return { origin: origin.replace(/\/$/, ''), sites, close: () => void child.kill() }
}

const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((found, reject) => {
    let text = ''
    child.stdout?.on('data', (piece: Buffer) => {
      text += piece.toString()
      if (text.includes('\n')) found(text.slice(0, text.indexOf('\n')))
    })
    child.once('close', (code) => reject(new Error(`the server of the sites ended: ${code}`)))
  })

/** The arguments of `crawl` for some sites of one origin: seeds, and the prefixes that reach beyond the seed's folder. */
export function crawlArguments(origin: string, sites: readonly RealSite[]): string[] {
  return [
    ...sites.map(({ seed }) => `${origin}${seed}`),
    ...sites.flatMap(({ prefix }) => ['--include', `${origin}${prefix}`]),
  ]
}
