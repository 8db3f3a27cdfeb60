/** What must hold in every data file, as SQL that finds what breaks it. Used by `findling check`; mends nothing. */
import type { Db } from '../lib/sqlite.ts'
import { keyOf } from './read-documents.ts'

/** `broken` answers one row per fault, with a column `what` that names it. */
type Invariant = { says: string; broken: string }

const examplesMax = 3
const damagesMax = 20

const invariants: readonly Invariant[] = [
  {
    says: 'every URL has a host',
    broken: `SELECT 'URL ' || id AS what FROM url WHERE host NOT IN (SELECT id FROM host)`,
  },
  {
    says: 'every URL that was not imported has a source',
    broken: `SELECT 'URL ' || id AS what FROM url WHERE source <> 0 AND source NOT IN (SELECT id FROM source)`,
  },
  {
    says: 'the path of a URL begins with a slash',
    broken: `SELECT 'URL ' || id AS what FROM url WHERE path NOT LIKE '/%'`,
  },
  {
    says: 'the state of a URL is 0, 1, 2 or 3, its attempts are not negative',
    broken: `SELECT 'URL ' || id AS what FROM url WHERE state NOT IN (0, 1, 2, 3) OR tries < 0`,
  },
  {
    says: 'what waits has a time to come back, and nothing else has one',
    broken: `SELECT 'URL ' || id AS what FROM url WHERE (state IN (1, 3)) <> (next_at IS NOT NULL)`,
  },
  {
    says: 'a URL settled or waiting was visited and has an outcome',
    broken: `SELECT 'URL ' || id AS what FROM url WHERE state IN (1, 2) AND outcome IS NULL`,
  },
  {
    says: 'a URL settled as a document has one',
    broken: `SELECT 'URL ' || id AS what FROM url
      WHERE state IN (1, 2) AND outcome IN ('stored', 'duplicate', 'unchanged', 'imported')
        AND NOT EXISTS (SELECT 1 FROM doc WHERE url_id = url.id)`,
  },
  {
    says: 'a URL that is gone or leads elsewhere has no document',
    broken: `SELECT 'URL ' || u.id AS what FROM doc d JOIN url u ON u.id = d.url_id
      WHERE u.outcome IN ('gone', 'redirect')`,
  },
  {
    says: 'an item has its URL and the URL of its page, and is in no queue',
    broken: `SELECT 'item ' || i.url_id AS what FROM item i LEFT JOIN url u ON u.id = i.url_id
      WHERE u.id IS NULL OR u.state <> 2 OR i.parent NOT IN (SELECT id FROM url)`,
  },
  {
    says: 'every document has its URL, visited once at least, of the same host',
    broken: `SELECT 'document ' || docno AS what FROM doc d LEFT JOIN url u ON u.id = d.url_id
      WHERE u.id IS NULL OR u.host <> d.host OR u.outcome IS NULL`,
  },
  {
    says: 'every document has its text',
    broken: `SELECT 'document ' || docno AS what FROM doc WHERE docno NOT IN (SELECT docno FROM doc_text)`,
  },
  {
    says: 'every text has its document',
    broken: `SELECT 'text ' || docno AS what FROM doc_text WHERE docno NOT IN (SELECT docno FROM doc)`,
  },
  {
    says: 'the extra of a text is JSON',
    broken: `SELECT 'text ' || docno AS what FROM doc_text WHERE NOT json_valid(extra)`,
  },
  {
    says: 'numbers of fields belong to a document, and are whole',
    broken: `SELECT 'document ' || docno AS what FROM doc_field
      WHERE docno NOT IN (SELECT docno FROM doc) OR length(ids) = 0 OR length(ids) % 4 <> 0`,
  },
  {
    says: 'every value belongs to a field',
    broken: `SELECT 'value ' || id AS what FROM field_value WHERE field NOT IN (SELECT id FROM field)`,
  },
  {
    says: 'numbers of keywords belong to a document, and are whole',
    broken: `SELECT 'document ' || docno AS what FROM doc_keyword
      WHERE docno NOT IN (SELECT docno FROM doc) OR length(ids) = 0 OR length(ids) % 4 <> 0`,
  },
  {
    says: 'an exact copy has a living original that is no copy',
    broken: `SELECT 'document ' || c.docno AS what FROM doc c LEFT JOIN doc o ON o.url_id = c.copy_of
      WHERE c.copy_of IS NOT NULL AND (o.docno IS NULL OR o.copy_of IS NOT NULL OR c.copy_of = c.url_id)`,
  },
  {
    says: 'an exact copy has the digest and the group of its original',
    broken: `SELECT 'document ' || c.docno AS what FROM doc c JOIN fingerprint f ON f.url_id = c.url_id
        JOIN fingerprint o ON o.url_id = c.copy_of
      WHERE f.digest <> o.digest OR f.grp <> o.grp`,
  },
  {
    says: 'every fingerprint has its document, of the same host',
    broken: `SELECT 'fingerprint ' || f.url_id AS what FROM fingerprint f LEFT JOIN doc d ON d.url_id = f.url_id
      WHERE d.docno IS NULL OR d.host <> f.host`,
  },
  {
    says: 'no living document is buried',
    broken: `SELECT 'document ' || docno AS what FROM tombstone WHERE docno IN (SELECT docno FROM doc)`,
  },
  {
    says: 'no document is newer than the highest docno given out',
    broken: `SELECT 'document ' || docno AS what FROM doc
      WHERE docno > coalesce((SELECT CAST(v AS INTEGER) FROM meta WHERE k = 'docno'), 0)`,
  },
  {
    says: 'every lease has its URL, in the queue',
    broken: `SELECT 'lease ' || url_id AS what FROM lease
      WHERE url_id <> 0 AND url_id NOT IN (SELECT id FROM url WHERE state = 0)`,
  },
  {
    says: 'every segment of the index has all its leaves',
    broken: `SELECT 'segment ' || id AS what FROM seg
      WHERE nleaf <> (SELECT count(*) FROM leaf WHERE k >= seg.id << 20 AND k < (seg.id + 1) << 20)`,
  },
  {
    says: 'no segment reaches beyond the highest docno given out',
    broken: `SELECT 'segment ' || id AS what FROM seg
      WHERE maxdoc > coalesce((SELECT CAST(v AS INTEGER) FROM meta WHERE k = 'docno'), 0) OR mindoc > maxdoc`,
  },
  {
    says: 'a job knows its sources, and its wish and counts are JSON',
    broken: `SELECT 'job ' || id AS what FROM job
      WHERE NOT json_valid(spec) OR NOT json_valid(counts) OR NOT json_valid(sources)
        OR EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(sources) THEN sources ELSE '[]' END) s
          WHERE s.value NOT IN (SELECT id FROM source))`,
  },
  {
    says: 'the seed of the fingerprints is known',
    broken: `SELECT 'seed' AS what WHERE NOT EXISTS (SELECT 1 FROM meta WHERE k = 'seed')`,
  },
]

/**
 * Proves every invariant of a data file, in one read transaction.
 * @returns one sentence per broken invariant, with examples; [] for a sound file
 */
export function checkStore(db: Db): string[] {
  return db.snapshot(() => {
    const damages = db
      .prepare<{ quick_check: string }>(`PRAGMA quick_check(${damagesMax})`)
      .all()
      .map((row) => row.quick_check)
      .filter((line) => line !== 'ok')
    // What the other queries say of a damaged file would be noise.
    if (damages.length > 0) return damages.map((line) => `the file is damaged: ${line}`)
    return [...invariants.flatMap((invariant) => findBroken(db, invariant)), ...wrongKeys(db)]
  })
}

function findBroken(db: Db, { says, broken }: Invariant): string[] {
  const { n = 0, examples = null } =
    db
      .prepare<{ n: number; examples: string | null }>(
        `WITH broken AS (${broken})
         SELECT (SELECT count(*) FROM broken) AS n,
           (SELECT group_concat(what, ', ') FROM (SELECT what FROM broken LIMIT ${examplesMax})) AS examples`,
      )
      .get() ?? {}
  return n === 0 ? [] : [`not so: ${says} (${n}: ${examples})`]
}

/** SQL cannot hash. */
function wrongKeys(db: Db): string[] {
  const rows = db.prepare<{ docno: number; key: Uint8Array; url: string }>(
    `SELECT d.docno, d.key, h.origin || u.path AS url
     FROM doc d JOIN url u ON u.id = d.url_id JOIN host h ON h.id = u.host`,
  )
  const wrong: number[] = []
  for (const { docno, key, url } of rows.iterate()) {
    if (Buffer.compare(key, keyOf(url)) !== 0) wrong.push(docno)
  }
  if (wrong.length === 0) return []
  const examples = wrong.slice(0, examplesMax).map((docno) => `document ${docno}`)
  return [
    `not so: the id of a document is made from its URL (${wrong.length}: ${examples.join(', ')})`,
  ]
}
