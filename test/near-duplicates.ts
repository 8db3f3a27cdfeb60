/** The labelled pairs of near-duplicates, which lie beside the repository; read for tests and benches, never copied into it. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'

export type LabelledText = { id: string; lang: string; text: string }
/** label: '1' near-duplicate, '0' not, '-1' unscored. */
export type LabelledPair = { a: string; b: string; label: string; type: string; lang: string }

const folder = resolve(import.meta.dirname, '../../shared/near-duplicates')

/** Why tests of the pairs cannot run here, or false. CI has the data and must not skip. */
export const pairsAreMissing: string | false =
  process.env['CI'] !== 'true' && !existsSync(folder) && 'the labelled pairs are not here'

export function readLabelledPairs(): { texts: LabelledText[]; pairs: LabelledPair[] } {
  const texts = gunzipSync(readFileSync(join(folder, 'docs.jsonl.gz')))
    .toString()
    .trim()
    .split('\n')
    .map((line): LabelledText => JSON.parse(line))
  const [, ...lines] = readFileSync(join(folder, 'pairs.dev.tsv'), 'utf8').trim().split('\n')
  const pairs = lines.map((line) => {
    const [a = '', b = '', label = '', type = '', lang = ''] = line.split('\t')
    return { a, b, label, type, lang }
  })
  return { texts, pairs }
}
