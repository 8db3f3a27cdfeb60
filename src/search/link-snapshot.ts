/** What a reader knows of the index of link texts: its segments, and the standing of each document. Made as a whole now and then, so it is loaded as a whole. */
import assert from 'node:assert'
import type { Db } from '../lib/sqlite.ts'
import { directoryOf, type SegmentView } from './segment-view.ts'
import { leavesPerSegmentMax } from './segments.ts'
import { filterColumn, openFilter } from './term-filter.ts'

export class LinkSnapshot {
  readonly #ids
  readonly #segment
  readonly #leaf
  #known = ''
  #views: SegmentView[] = []
  #standings = new Uint8Array()
  #version = -1

  constructor(db: Db) {
    this.#ids = db.prepare<{ id: number }>('SELECT id FROM link_seg ORDER BY mindoc')
    this.#segment = db.prepare<{
      mindoc: number
      maxdoc: number
      dir: Uint8Array
      lens: Uint8Array
      terms: Uint8Array | null
    }>(`SELECT mindoc, maxdoc, dir, lens, ${filterColumn(db, 'link_seg')} FROM link_seg WHERE id=?`)
    this.#leaf = db.prepare<{ b: Uint8Array }>('SELECT b FROM leaf WHERE k=?')
  }

  /** Within a read transaction. @param version of the snapshot of the pages: where that is the same, so is this */
  refresh(version: number): void {
    if (version === this.#version) return
    this.#version = version
    const ids = this.#ids.all().map(({ id }) => id)
    // Ids are given out once, so equal ones mean the same segments.
    if (ids.join(' ') === this.#known) return
    this.#known = ids.join(' ')
    this.#standings = new Uint8Array()
    this.#views = ids.map((id) => this.#load(id))
  }

  /** Ascending and disjoint. */
  views(): readonly SegmentView[] {
    return this.#views
  }

  /** Codes of link-terms.ts by docno; 0 or missing = nothing is known. */
  standings(): Uint8Array {
    return this.#standings
  }

  #load(id: number): SegmentView {
    const row = this.#segment.get(id)
    assert(row, `segment ${id} of link texts has no row`)
    const { mindoc, maxdoc, lens, terms } = row
    const directory = directoryOf(Buffer.from(row.dir).toString('utf8'))
    if (maxdoc >= this.#standings.length) {
      const wider = new Uint8Array(maxdoc + 1)
      wider.set(this.#standings)
      this.#standings = wider
    }
    this.#standings.set(lens, mindoc)
    return {
      firstDocno: mindoc,
      lastDocno: maxdoc,
      packed: { first: mindoc, last: maxdoc },
      directory,
      mayHold: terms === null ? null : openFilter(terms, directory.length),
      leaf: (n) => {
        const leaf = this.#leaf.value(id * leavesPerSegmentMax + n)
        assert(leaf, `segment ${id} of link texts lacks leaf ${n}`)
        return leaf
      },
    }
  }
}
