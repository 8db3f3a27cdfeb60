/** The analyzer that queries of the index want: it changes in the same transaction as the segments do. */
import type { Reader } from '../store/reader.ts'
import type { Dictionary } from '../text/dictionary.ts'
import { type Analyzer, createAnalyzer, pairsVersion } from '../text/tokenize.ts'
import { withUserWords } from '../text/user-words.ts'

export type CurrentAnalyzer = Analyzer & {
  /** Within a read transaction, before a query. True where it has become another one: what was derived by it is to be forgotten. */
  refresh(): boolean
}

export function createCurrentAnalyzer(
  store: Pick<Reader, 'meta'>,
  dictionary: Dictionary,
): CurrentAnalyzer {
  let key: string | null = null
  let current = createAnalyzer(dictionary)
  return {
    version: current.version,
    // Nothing is known of an index without a key, and it holds nothing.
    get hasPairs() {
      return key === null || Number.parseInt(key, 10) >= pairsVersion
    },
    document: (document) => current.document(document),
    query: (text) => current.query(text),
    tokens: (text, withBigrams) => current.tokens(text, withBigrams),
    eachTerm: (text, user) => current.eachTerm(text, user),
    termOf: (form) => current.termOf(form),
    places: (text, terms) => current.places(text, terms),
    refresh() {
      const now = store.meta('analyzer')
      if (now === key) return false
      const hadWords = key?.includes('+') === true
      key = now
      const words = store.meta('words') ?? ''
      if (words === '' && !hadWords) return false
      current = createAnalyzer(withUserWords(dictionary, words === '' ? [] : words.split('\n')))
      return true
    },
  }
}
