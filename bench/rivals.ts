/** FTS5 and MiniSearch as a careful user sets them up: stems and no stop words in English, pairs of characters in Chinese, any word fits. No bench by itself. */
import MiniSearch from 'minisearch'
import { openDatabase } from '../src/lib/sqlite.ts'
import type { Analyzer } from '../src/text/tokenize.ts'

export type Rival = {
  name: string
  /** Documents by number. */
  add(number: number, title: string, text: string): void
  /** Best first. */
  search(text: string, limit: number): number[]
  close(): void
}

/** In English the words as typed, without stop words; in Chinese pairs of characters, and words of other scripts. */
function createCutter(analyzer: Analyzer, isChinese: boolean): (text: string) => string[] {
  const isStop = new Map<string, boolean>()
  const isTelling = (word: string): boolean => {
    let known = isStop.get(word)
    if (known === undefined) {
      known = analyzer.query(word).words.every((one) => one.isStop)
      isStop.set(word, known)
    }
    return !known
  }
  return (text) => {
    const words = text.normalize('NFKC').toLowerCase().match(pieces) ?? []
    if (!isChinese) return words.filter(isTelling)
    return words.flatMap((word) =>
      /\p{Script=Han}/u.test(word) && word.length > 1
        ? Array.from({ length: word.length - 1 }, (_, i) => word.slice(i, i + 2))
        : [word],
    )
  }
}

const pieces = /\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}])+/gu

/** bm25() over title and text, `porter unicode61` where it stems. */
export function createFts(analyzer: Analyzer, isChinese: boolean): Rival {
  const cut = createCutter(analyzer, isChinese)
  const db = openDatabase(':memory:')
  const tokenizer = isChinese ? 'unicode61' : 'porter unicode61'
  db.exec(`CREATE VIRTUAL TABLE fts USING fts5(text, tokenize='${tokenizer}')`)
  const insert = db.prepare('INSERT INTO fts(rowid, text) VALUES (?, ?)')
  const ask = db.prepare<{ rowid: number }>(
    'SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rank LIMIT ?',
  )
  return {
    name: 'FTS5',
    add(number, title, text) {
      const whole = `${title} ${text}`
      insert.run(number + 1, isChinese ? cut(whole).join(' ') : whole)
    },
    search(text, limit) {
      const words = cut(text).map((word) => `"${word}"`)
      if (words.length === 0) return []
      return ask.all(words.join(' OR '), limit).map(({ rowid }) => rowid - 1)
    },
    close: () => db.close(),
  }
}

export function createMini(analyzer: Analyzer, isChinese: boolean): Rival {
  const cut = createCutter(analyzer, isChinese)
  const stems = new Map<string, string>()
  const stem = (word: string): string => {
    let known = stems.get(word)
    if (known === undefined) {
      known = analyzer.query(word).words[0]?.term ?? word
      stems.set(word, known)
    }
    return known
  }
  const mini = new MiniSearch({
    fields: ['title', 'text'],
    tokenize: cut,
    processTerm: isChinese ? (word) => word : stem,
  })
  return {
    name: 'MiniSearch',
    add: (id, title, text) => mini.add({ id, title, text }),
    search: (text, limit) =>
      mini
        .search(text)
        .slice(0, limit)
        .map(({ id }) => Number(id)),
    close: () => mini.removeAll(),
  }
}
