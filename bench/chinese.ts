/** Documents of the sentences of the Chinese relevance sets, and words that so many of them have. No bench by itself. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { pick, type Random } from '../test/site/words.ts'
import { testAnalyzer } from '../test/unit/search/collection.ts'
import type { IndexedDocument, IndexQuery } from '../src/search/index.ts'

export type Source = {
  isChinese: boolean
  make(docno: number): { indexed: IndexedDocument; text: string }
  /** After all were made: [what it is, words as typed, whether any of them will do]. */
  queries(): [name: string, words: readonly string[], match: IndexQuery['match']][]
}

const evalFolder = join(import.meta.dirname, '..', '..', 'shared', 'eval')
const sentencesADocument = 24

/** Why there are none here, or null. */
export const missingSentences = (): string | null =>
  existsSync(evalFolder)
    ? null
    : 'The Chinese sentences stand in ../shared/eval, which is not there.'

/** Some passages of a set behind each other, about as long as an English page of 2.5 KB; common words are found by counting. */
export function chinese(random: Random): Source {
  const texts = ['cmrc2018', 'rgb-zh', 'dureader-demo'].flatMap((set) =>
    gunzipSync(readFileSync(join(evalFolder, set, 'docs.jsonl.gz')))
      .toString()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { text: string }).text),
  )
  const passages = texts
    .map((text) => text.match(/[^。！？\n]{8,80}[。！？]/gu) ?? [])
    .filter((sentences) => sentences.length > 0)
  const analyzer = testAnalyzer()
  const counts = new Map<string, number>()
  let documents = 0
  /** The word of two characters that comes nearest to a share of the documents. */
  const nearest = (share: number): string =>
    [...counts]
      .filter(([term]) => /^\p{Script=Han}{2}$/u.test(term))
      .reduce((best, one) =>
        Math.abs(one[1] / documents - share) < Math.abs(best[1] / documents - share) ? one : best,
      )[0]
  return {
    isChinese: true,
    make(docno) {
      const sentences: string[] = []
      while (sentences.length < sentencesADocument) sentences.push(...pick(random, passages))
      const text = sentences.slice(0, sentencesADocument).join('')
      const indexed = {
        docno,
        ...analyzer.document({ title: '', headings: '', text, rest: '', url: '' }),
      }
      documents += 1
      if (documents % 16 === 0)
        for (const term of new Set(analyzer.tokens(text).map((token) => token.term)))
          counts.set(term, (counts.get(term) ?? 0) + 16)
      return { indexed, text }
    },
    queries() {
      const [first, second, third, middling, rare] = [0.5, 0.35, 0.25, 0.02, 0.002].map(
        nearest,
      ) as [string, string, string, string, string]
      return [
        ['common word', [first], 'any'],
        ['OR of three common', [first, second, third], 'any'],
        ['OR of rare, middling, common', [rare, middling, first], 'any'],
        ['two common, both wanted', [first, second], 'all'],
        ['rare word', [rare], 'any'],
      ]
    },
  }
}
