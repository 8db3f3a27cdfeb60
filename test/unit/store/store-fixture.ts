/** Stores in a temporary folder, and short ways to put documents into them, for the tests of the store. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { packText } from '../../../src/lib/packed-text.ts'
import {
  openStore,
  type DocumentInput,
  type PutDocument,
  type Store,
} from '../../../src/store/store.ts'

export const folder = mkdtempSync(join(tmpdir(), 'findling-store-'))
export const opened: { close(): void }[] = []
let files = 0
export const newFile = (): string => join(folder, `${++files}.db`)
after(() => {
  for (const one of opened) one.close()
  rmSync(folder, { recursive: true, force: true })
})

export function open(file = newFile()): Store {
  const store = openStore(file, { now: () => 1_000 })
  opened.push(store)
  return store
}

export type Page = Partial<Omit<DocumentInput, 'body' | 'rest'>> & { text?: string; rest?: string }

/** Stores a page as the crawl does: its URL row first, then the document, in one transaction. */
export function put(
  store: Store,
  url: string,
  { text = 'text', rest = '', ...more }: Page = {},
): PutDocument {
  return store.transaction(() => {
    const { urlId } = store.importedUrl(url, 0, 1_000)
    return store.putDocument({
      urlId,
      hostId: store.hostId(new URL(url).origin),
      url,
      title: 'Title',
      lang: 'en',
      type: 'text/html',
      size: 1_234,
      publishedAtMs: null,
      fetchedAtMs: 1_000,
      copyOf: null,
      body: packText(text),
      rest: rest === '' ? null : packText(rest),
      extra: { description: '', author: '', headings: '', keywords: [], fields: {} },
      ...more,
    })
  })
}

export const idOf = (store: Store, url: string): number => {
  const row = store.urlRow(url)
  assert.ok(row, `${url} is unknown`)
  return row.id
}
export const remove = (store: Store, url: string) =>
  store.transaction(() => store.removeDocument(idOf(store, url)))
export const tombstones = (store: Store): number[] =>
  store.db
    .prepare<{ docno: number }>('SELECT docno FROM tombstone ORDER BY docno')
    .all()
    .map(({ docno }) => docno)

/** Groups pages as the duplicates do, with a digest of one byte. */
export function fingerprint(store: Store, url: string, group: string, digest: number): void {
  store.db
    .prepare(
      `INSERT INTO fingerprint(url_id, host, digest, sim, anchors, sketch, tokens, figures, numbers, grp, role)
       SELECT ?, host, ?, x'00', x'00', x'00', 1, 0, 0, ?, ? FROM url WHERE id=?`,
    )
    .run(
      idOf(store, url),
      Uint8Array.of(digest),
      idOf(store, group),
      url === group ? 0 : 2,
      idOf(store, url),
    )
}

export const [a, b, c, d] = [
  'http://a.test/',
  'http://b.test/b',
  'http://c.test/c',
  'http://d.test/d',
] as const
