/** Small facts that the program keeps about a data directory: the seed of its hashes, versions, generations, high-water marks. */
import { randomBytes } from 'node:crypto'
import type { Db } from '../lib/sqlite.ts'

/** Every fact there is. Values are text; who writes a key says what it means. */
export type MetaKey =
  /** 32 bits, unsigned: makes the fingerprints of this directory unpredictable. Never changed. */
  | 'seed'
  /** Key of tokenizer, dictionary and user words that the index was made with (text/user-words.ts). */
  | 'analyzer'
  /** Those user words, one a line. */
  | 'words'
  /** The same two of the generation of the index that is being made; '' for none. Its last segment says how far it is. */
  | 'next_analyzer'
  | 'next_words'
  /** Counts the transactions that changed documents: answers of one generation are alike. */
  | 'generation'
  /** Highest docno ever given out. */
  | 'docno'
  /** Ties the filter of seen URLs to this database. */
  | 'bloom_generation'
  /** Counts the rebuilds of the index. */
  | 'index_generation'
  /** 16 bytes as hex, made once: signs the cursors of this directory. */
  | 'cursor_key'
  /** Version of the rules that the tables of fields were filled by. */
  | 'fields'
  /** Counts the URLs that got another link text or linking site. */
  | 'links_changed'
  /** What the index of link texts was made of: analyzer, that count, the highest docno then. */
  | 'links_indexed'
  /** Digests of the word lists that all documents, and those up to the docno of the cursor, were judged by. */
  | 'words_applied'
  | 'words_target'
  | 'words_cursor'

export type Meta = {
  get(key: MetaKey): string | null
  set(key: MetaKey, value: string | number): void
}

/** Writes join the caller's transaction; over a read-only connection they throw. */
export function createMeta(db: Db): Meta {
  const read = db.prepare<{ v: string }>('SELECT v FROM meta WHERE k=?')
  const write = db.prepare(
    'INSERT INTO meta(k, v) VALUES(?, ?) ON CONFLICT DO UPDATE SET v=excluded.v',
  )
  return {
    get: (key) => read.get(key)?.v ?? null,
    set: (key, value) => void write.run(key, String(value)),
  }
}

/** Before the first reader opens the directory, which cannot write it. */
export function makeCursorKey(db: Db, meta: Meta): void {
  if (meta.get('cursor_key') !== null) return
  db.transaction(() => meta.set('cursor_key', randomBytes(16).toString('hex')))
}

/** The seed of this directory, made once. */
export function fingerprintSeedOf(db: Db, meta: Meta): number {
  const known = meta.get('seed')
  if (known !== null) return Number(known)
  const seed = randomBytes(4).readUInt32LE()
  db.transaction(() => meta.set('seed', seed))
  return seed
}
