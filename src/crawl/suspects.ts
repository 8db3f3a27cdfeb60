/** Which page kills the process? Notes what is out, and after an unclean end has each of those tried alone. Only a page that was alone is blamed. */
import type { Db } from '../lib/sqlite.ts'

export type Suspect = { urlId: number; hostId: number; sourceId: number }

/** So many deaths while it was out alone, and a page is put aside. */
const deathsMax = 3
const asideMs = 86_400_000
/**
 * What is out is noted at commits. A page that kills the process before the next one would never be on record, so after
 * an unclean end every take is written ahead until this many commits have passed.
 */
const commitsWrittenAhead = 2

type Noted = Suspect & { deaths: number }

/** Owns the table `lease`: row 0 = running, the others = out at the last commit or still to be tried alone. */
export class Suspects {
  readonly #insert
  readonly #clear
  readonly #suspects = new Map<number, Noted>()
  #alone: number | null = null
  #commitsAhead = 0

  /** Judges the last run: whoever was alone when it died is one death older. */
  constructor(db: Db, nowMs: number) {
    this.#insert = db.prepare(
      'INSERT INTO lease(url_id, alone) VALUES(?, ?) ON CONFLICT DO UPDATE SET alone=excluded.alone',
    )
    this.#clear = db.prepare('DELETE FROM lease')
    const noted = db.prepare<Noted>(
      `SELECT u.id AS urlId, u.host AS hostId, u.source AS sourceId, l.alone AS deaths
       FROM lease l JOIN url u ON u.id = l.url_id WHERE u.state = 0 ORDER BY l.alone, u.id`,
    )
    const putAside = db.prepare("UPDATE url SET state=3, reason='crash', next_at=? WHERE id=?")
    const isRunning = db.prepare<{ one: number }>('SELECT 1 AS one FROM lease WHERE url_id=0')
    db.transaction(() => {
      if (isRunning.get() !== undefined) {
        this.#commitsAhead = commitsWrittenAhead
        for (const suspect of noted.all()) {
          if (suspect.deaths < deathsMax) this.#suspects.set(suspect.urlId, suspect)
          else putAside.run(Math.round(nowMs) + asideMs, suspect.urlId)
        }
      }
      this.save([], new Set())
    })
  }

  get size(): number {
    return this.#suspects.size
  }

  /** A suspect is out: nothing else may be. */
  isTrying(): boolean {
    return this.#alone !== null
  }

  has(urlId: number): boolean {
    return this.#suspects.has(urlId)
  }

  /** Those still to be tried, the least suspected first. */
  list(): IterableIterator<Suspect> {
    return this.#suspects.values()
  }

  /** On record as a death from here on, until it is settled. */
  tryAlone({ urlId }: Suspect): void {
    const deaths = (this.#suspects.get(urlId)?.deaths ?? 0) + 1
    this.#insert.run(urlId, deaths)
    this.#alone = urlId
  }

  /** The URL was queued for another source. */
  move(urlId: number, sourceId: number): void {
    const suspect = this.#suspects.get(urlId)
    if (suspect !== undefined) suspect.sourceId = sourceId
  }

  taken(urlId: number): void {
    if (this.#commitsAhead > 0) this.#insert.run(urlId, 0)
  }

  /** Within the batch transaction. @param outIds what stays out after it @param settledIds what it settles: no longer suspected */
  save(outIds: Iterable<number>, settledIds: ReadonlySet<number>): void {
    this.#clear.run()
    this.#insert.run(0, 0)
    for (const urlId of outIds) this.#insert.run(urlId, 0)
    for (const { urlId, deaths } of this.#suspects.values()) {
      if (settledIds.has(urlId)) continue
      this.#insert.run(urlId, urlId === this.#alone ? deaths + 1 : deaths)
    }
  }

  /** After the commit that settled these. */
  committed(urlIds: Iterable<number>): void {
    if (this.#commitsAhead > 0) this.#commitsAhead--
    for (const urlId of urlIds) {
      this.#suspects.delete(urlId)
      if (urlId === this.#alone) this.#alone = null
    }
  }

  /** A clean end: nobody is suspected of it. */
  close(): void {
    this.#clear.run()
  }
}
