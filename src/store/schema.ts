/** The tables: numbered migrations, never edited after a release. STRICT, because better-sqlite3 binds every JS number as REAL. */

const version1 = `
-- settings of the data directory that the program itself decides: seed, analyzer, generation
CREATE TABLE meta(k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- politeness survives a restart: due_at = when the host may be asked next (ms), robots as fetched
CREATE TABLE host(id INTEGER PRIMARY KEY, origin TEXT NOT NULL UNIQUE, due_at INTEGER NOT NULL DEFAULT 0,
  robots_at INTEGER, robots_until INTEGER, robots_status INTEGER, robots BLOB) STRICT;

-- a source = one scope; seeds with the same scope share it. spec: JSON of the resolved scope
CREATE TABLE source(id INTEGER PRIMARY KEY, spec TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL) STRICT;
-- a job = one wish to crawl: its sources, limits, counts (JSON, written in the batch transactions: exact after a crash)
CREATE TABLE job(id INTEGER PRIMARY KEY, spec TEXT NOT NULL UNIQUE, sources TEXT NOT NULL, state TEXT NOT NULL, note TEXT NOT NULL DEFAULT '',
  counts TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER, active_ms INTEGER NOT NULL DEFAULT 0) STRICT;

-- one row per URL ever in scope; path = without the origin. state: 0 queued, 1 waiting (retry or revisit at next_at), 2 settled, 3 put aside.
-- epoch = newest source id when its links were judged: a later, wider source visits it once more
CREATE TABLE url(id INTEGER PRIMARY KEY, host INTEGER NOT NULL, path TEXT NOT NULL, source INTEGER NOT NULL, epoch INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0, prio INTEGER NOT NULL DEFAULT 0, depth INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0,
  status INTEGER, outcome TEXT, reason TEXT, next_at INTEGER, fetched_at INTEGER, etag TEXT, modified TEXT, UNIQUE(host, path)) STRICT;
CREATE INDEX url_queue ON url(source, host, prio) WHERE state = 0;
CREATE INDEX url_due ON url(source, next_at) WHERE state IN (1, 3);
-- out at the last commit: suspects after a crash. alone = how often the process died while nothing else was out. Row 0 = running
CREATE TABLE lease(url_id INTEGER PRIMARY KEY, alone INTEGER NOT NULL DEFAULT 0) STRICT;

-- narrow rows, so that a reader can load every document's attributes quickly. A docno only grows; a changed page gets a new one.
-- key = 9 bytes of SHA-256 of the URL: the API id. copy_of = url_id of the original of an exact copy (it has no postings of its own)
CREATE TABLE doc(docno INTEGER PRIMARY KEY, url_id INTEGER NOT NULL UNIQUE, host INTEGER NOT NULL, key BLOB NOT NULL UNIQUE, lang TEXT NOT NULL, type TEXT NOT NULL,
  title TEXT NOT NULL, size INTEGER NOT NULL, published_at INTEGER, fetched_at INTEGER NOT NULL, changed_at INTEGER NOT NULL,
  copy_of INTEGER, flags INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX doc_copy ON doc(copy_of) WHERE copy_of IS NOT NULL;
-- body, rest: UTF-8, deflateRaw. extra: JSON {description, author, headings, keywords, fields}
CREATE TABLE doc_text(docno INTEGER PRIMARY KEY, body BLOB NOT NULL, rest BLOB, extra TEXT NOT NULL) STRICT;
-- dead but perhaps still in a segment: readers skip it, the merge that drops it deletes the row
CREATE TABLE tombstone(docno INTEGER PRIMARY KEY) STRICT;

-- what a page is recognised by; sim = 8 bytes, anchors = 4 bytes each, little endian. grp = url_id of the group's centre at its founding,
-- negative where that number was taken. role: 0 centre, 1 witness, 2 near, 3 exact copy of the one row with this digest and a lower role
CREATE TABLE fingerprint(url_id INTEGER PRIMARY KEY, host INTEGER NOT NULL, digest BLOB NOT NULL, sim BLOB NOT NULL, anchors BLOB NOT NULL, sketch BLOB NOT NULL,
  tokens INTEGER NOT NULL, figures INTEGER NOT NULL, numbers INTEGER NOT NULL, grp INTEGER NOT NULL, role INTEGER NOT NULL DEFAULT 0, similarity REAL, distance INTEGER) STRICT;
CREATE INDEX fingerprint_digest ON fingerprint(digest, role);
CREATE INDEX fingerprint_group ON fingerprint(grp, role);

-- the index: packed, segment-major, immutable (search/segments.ts). k = seg << 20 | n
CREATE TABLE seg(id INTEGER PRIMARY KEY, level INTEGER NOT NULL, mindoc INTEGER NOT NULL, maxdoc INTEGER NOT NULL, nleaf INTEGER NOT NULL,
  dir BLOB NOT NULL, lens BLOB NOT NULL) STRICT;
CREATE TABLE leaf(k INTEGER PRIMARY KEY, b BLOB NOT NULL) STRICT;
`

const version2 = `
-- structured fields (store/fields.ts): every distinct value of a field has a number; value = the first 200 characters, number = what it is as one.
-- doc_field.ids = the numbers of a document's values, ascending, 4 bytes each, big endian; a document without fields has no row
CREATE TABLE field(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE field_value(id INTEGER PRIMARY KEY, field INTEGER NOT NULL, value TEXT NOT NULL, number REAL, UNIQUE(field, value)) STRICT;
CREATE TABLE doc_field(docno INTEGER PRIMARY KEY, ids BLOB NOT NULL) STRICT;
`

const version3 = `
-- what a user described (crawl/source-file.ts), resolved, as JSON; its scopes are rows of source whose spec carries its name
CREATE TABLE described_source(name TEXT PRIMARY KEY, spec TEXT NOT NULL, changed_at INTEGER NOT NULL) STRICT;
`

const version4 = `
-- kind: 0 page, 1 sitemap, 2 feed. via: 1 = found on pages of its own shape only. lastmod: as the newest list had it (ms).
-- history: the last visits, packed (crawl/history.ts)
ALTER TABLE url ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
ALTER TABLE url ADD COLUMN via INTEGER NOT NULL DEFAULT 0;
ALTER TABLE url ADD COLUMN lastmod INTEGER;
ALTER TABLE url ADD COLUMN history BLOB;
-- what the URLs of one shape (crawl/shape.ts) of a host brought. barren = visits in a row that brought nothing. state: 0 open, 1 closed, 2 kept open by the operator
CREATE TABLE shape(host INTEGER NOT NULL, shape TEXT NOT NULL, fetched INTEGER NOT NULL, fresh INTEGER NOT NULL, copies INTEGER NOT NULL,
  barren INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(host, shape)) STRICT, WITHOUT ROWID;
-- pairs of URLs that differ in this parameter only, by whether the page was the same. state: 0 watched, 1 dropped from URLs, 2 kept by the operator
CREATE TABLE parameter(host INTEGER NOT NULL, name TEXT NOT NULL, same INTEGER NOT NULL, differing INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(host, name)) STRICT, WITHOUT ROWID;
`

const version5 = `
-- words of lists that a page has (text/judge-words.ts), also of a page that is not stored for them. place = where first
CREATE TABLE word_hit(url_id INTEGER NOT NULL, list TEXT NOT NULL, word TEXT NOT NULL, policy TEXT NOT NULL, hits INTEGER NOT NULL,
  place TEXT NOT NULL, PRIMARY KEY(url_id, list, word)) STRICT, WITHOUT ROWID;
`

const version6 = `
-- runs of described sources, the newest of each: cause schedule or request; counts of the run, or while it is under way those of its job at its start
CREATE TABLE run(id INTEGER PRIMARY KEY, source TEXT NOT NULL, cause TEXT NOT NULL, state TEXT NOT NULL, started_at INTEGER NOT NULL,
  ended_at INTEGER, counts TEXT NOT NULL, note TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX run_source ON run(source, id);
-- when a schedule is due next; plan = the schedule as it was then
CREATE TABLE planned_run(source TEXT PRIMARY KEY, plan TEXT NOT NULL, next_at INTEGER NOT NULL) STRICT;
-- expires_at: the page said that it is not to be shown after this (ms). flags of a doc: 1 = the page wants no copy of it shown
ALTER TABLE doc ADD COLUMN expires_at INTEGER;
CREATE INDEX doc_expires ON doc(expires_at) WHERE expires_at IS NOT NULL;
-- what changed between versions of a page, the newest few of each URL: JSON
CREATE TABLE doc_change(url_id INTEGER NOT NULL, at INTEGER NOT NULL, change TEXT NOT NULL, PRIMARY KEY(url_id, at)) STRICT, WITHOUT ROWID;
-- failures in a row of all pages of a host: many of them, and it rests
ALTER TABLE host ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
`

const version7 = `
-- the generation of segments that is being made while seg answers; the same columns, its leaves in the same table
CREATE TABLE seg_next(id INTEGER PRIMARY KEY, level INTEGER NOT NULL, mindoc INTEGER NOT NULL, maxdoc INTEGER NOT NULL, nleaf INTEGER NOT NULL,
  dir BLOB NOT NULL, lens BLOB NOT NULL) STRICT;
`

const version8 = `
-- queries that found something (store/asked-queries.ts): how often, and when last (ms). Not by whom
CREATE TABLE asked_query(folded TEXT PRIMARY KEY, text TEXT NOT NULL, count INTEGER NOT NULL, last_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`

const version9 = `
-- the copies alone, by group and host: lists and counts of them pass over all pages that have none
CREATE INDEX fingerprint_copies ON fingerprint(grp, host, role) WHERE role <> 0;
-- how many different things were met (store/distinct.ts): the registers of a HyperLogLog
CREATE TABLE distinct_count(name TEXT PRIMARY KEY, registers BLOB NOT NULL) STRICT;
`

const version10 = `
-- what pages call a URL that they link to (store/inbound.ts): lines of "host text", a few of its own site, one of each other site; text may be ''
CREATE TABLE inbound(url_id INTEGER PRIMARY KEY, links TEXT NOT NULL) STRICT;
-- the index of those texts, over the documents of seg: made from inbound, with leaves in the same table; and the one that is being made
CREATE TABLE link_seg(id INTEGER PRIMARY KEY, level INTEGER NOT NULL, mindoc INTEGER NOT NULL, maxdoc INTEGER NOT NULL, nleaf INTEGER NOT NULL,
  dir BLOB NOT NULL, lens BLOB NOT NULL) STRICT;
CREATE TABLE link_seg_next(id INTEGER PRIMARY KEY, level INTEGER NOT NULL, mindoc INTEGER NOT NULL, maxdoc INTEGER NOT NULL, nleaf INTEGER NOT NULL,
  dir BLOB NOT NULL, lens BLOB NOT NULL) STRICT;
`

const version11 = `
-- documents that stand on the page of another URL (rules: items). parent = the url_id of that page. missing = 1: it showed none at its last visit
CREATE TABLE item(url_id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, missing INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX item_parent ON item(parent);
`

const version12 = `
-- since when a page has its text, or one like it (ms): which of its copies was there first. NULL = as long as is known
ALTER TABLE fingerprint ADD COLUMN since INTEGER;
-- of pages that one batch wrote the centre came first, and was shown
UPDATE fingerprint SET since = (SELECT changed_at FROM doc WHERE doc.url_id = fingerprint.url_id) + (role <> 0);
CREATE INDEX fingerprint_since ON fingerprint(grp, since) WHERE role <> 0;
-- pages that link to it, in steps: 0, 4, 8, 16 ... (crawl/inlinks.ts)
ALTER TABLE url ADD COLUMN inlinks INTEGER NOT NULL DEFAULT 0;
`

const version13 = `
-- keywords by number (store/keyword-table.ts): key = what spellings of one word have in common, word = its shortest spelling, '' once it is masked.
-- doc_keyword.ids = those of a document, best first, 4 bytes each, big endian; a document without any has no row
CREATE TABLE keyword(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, word TEXT NOT NULL) STRICT;
CREATE TABLE doc_keyword(docno INTEGER PRIMARY KEY, ids BLOB NOT NULL) STRICT;
`

const version14 = `
-- doc_text.body, rest: zstd frames from here on, and raw deflate as before where they were written before (lib/packed-text.ts).
-- No table changes: the version alone keeps out programs that could not read them. Bun wants a statement all the same
SELECT 1;
`

const version15 = `
-- which terms the leaves of a segment surely lack (search/term-filter.ts); NULL = nothing is known
ALTER TABLE seg ADD COLUMN terms BLOB;
ALTER TABLE seg_next ADD COLUMN terms BLOB;
ALTER TABLE link_seg ADD COLUMN terms BLOB;
ALTER TABLE link_seg_next ADD COLUMN terms BLOB;
`

/** Index = schema version before the step. Each step runs in one transaction with its `user_version`. */
export const migrations: readonly string[] = [
  version1,
  version2,
  version3,
  version4,
  version5,
  version6,
  version7,
  version8,
  version9,
  version10,
  version11,
  version12,
  version13,
  version14,
  version15,
]
