/** Groups of copies: what joins, what stays apart, who takes over, and that rows and memory always agree. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  type DuplicateLimits,
  type Duplicates,
  loadInSlices,
  openDuplicates,
  type Placement,
} from '../../../src/crawl/duplicates.ts'
import { type Db, migrate, openDatabase } from '../../../src/lib/sqlite.ts'
import { migrations } from '../../../src/store/schema.ts'
import { fingerprint, textSimilarity } from '../../../src/text/fingerprint.ts'
import { pairsAreMissing, readLabelledPairs } from '../../near-duplicates.ts'
import { loadTestTables } from '../../text-tables.ts'

type Setting = {
  db: Db
  duplicates: Duplicates
  place: (urlId: number, text: string, hostId?: number) => Placement
  remove: (urlId: number) => number | null
}

function setUp(limits?: DuplicateLimits): Setting {
  const db = openDatabase(':memory:')
  migrate(db, migrations)
  const duplicates = openDuplicates(db, limits)
  return {
    db,
    duplicates,
    place: (urlId, text, hostId = urlId) =>
      db.transaction(() =>
        duplicates.place({ urlId, hostId, fingerprint: fingerprint(text, 4_711) }),
      ),
    remove: (urlId) => db.transaction(() => duplicates.remove(urlId)),
  }
}

const letters = 'bcdfghjklmnprstvz'
/** A word of its own for each number, without digits. */
function wordOf(n: number): string {
  let [word, rest] = ['wo', n]
  do {
    word += `${letters[rest % letters.length]}a`
    rest = Math.floor(rest / letters.length)
  } while (rest > 0)
  return word
}
/** `count` words of topic `topic`; words at the positions `changed` are others. */
const textOf = (topic: number, count: number, changed: readonly number[] = []): string =>
  Array.from({ length: count }, (_, i) =>
    wordOf(topic * 10_000 + (changed.includes(i) ? 5_000 + i : i)),
  ).join(' ')
const every = (count: number, step: number, from = 0): number[] =>
  Array.from({ length: count }, (_, i) => i).filter((i) => i % step === from)
const forms = (numbers: readonly number[]): string =>
  textOf(3, 100)
    .split(' ')
    .map((word, i) => `${word} ${numbers[i] ?? ''}`)
    .join(' ')
const range = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => from + 17 * i)

/** Throws where a rule that must always hold does not. */
function checkInvariants(db: Db): void {
  type Row = {
    id: number
    grp: number
    role: number
    digest: Uint8Array
    sketch: Uint8Array
    tokens: number
    similarity: number
  }
  const rows = db
    .prepare<Row>(
      'SELECT url_id AS id, grp, role, digest, sketch, tokens, similarity FROM fingerprint',
    )
    .all()
  const hex = (row: Row): string => Buffer.from(row.digest).toString('hex')
  const holders = new Map(
    rows.filter(({ role, tokens }) => role < 3 && tokens > 0).map((row) => [hex(row), row]),
  )
  assert.equal(
    holders.size,
    rows.filter(({ role, tokens }) => role < 3 && tokens > 0).length,
    'one holder a text',
  )
  const centres = new Map(rows.filter(({ role }) => role === 0).map((row) => [row.grp, row]))
  assert.equal(centres.size, rows.filter(({ role }) => role === 0).length, 'one centre a group')
  const witnesses = new Map<number, number>()
  for (const row of rows) {
    const centre = centres.get(row.grp)
    assert.ok(centre !== undefined, `group ${row.grp} has a centre`)
    assert.notEqual(row.grp, 0)
    if (row.role <= 1) witnesses.set(row.grp, (witnesses.get(row.grp) ?? 0) + 1)
    if (row.role === 3) {
      const holder = holders.get(hex(row))
      assert.ok(holder !== undefined && holder.grp === row.grp, 'a copy is where its holder is')
      assert.equal(row.similarity, holder.similarity)
    } else if (row.role > 0) {
      assert.equal(row.similarity, textSimilarity(row.sketch, centre.sketch))
      assert.ok(row.similarity >= 0.5, 'members are around the centre')
    }
  }
  for (const count of witnesses.values()) assert.ok(count <= 8, 'at most 8 centres and witnesses')
}

describe('the place of a page among its copies', () => {
  before(() => void loadTestTables())

  it('is its own where nothing is like it', () => {
    const { place, duplicates } = setUp()
    assert.deepEqual(place(5, textOf(1, 100)), {
      kind: 'unique',
      group: 5,
      original: null,
      similarity: 1,
      distance: 0,
      sameAsBefore: false,
      promoted: null,
    })
    assert.equal(place(6, textOf(2, 100)).kind, 'unique')
    assert.deepEqual(duplicates.group(5), [
      { urlId: 5, role: 'centre', similarity: 1, distance: 0 },
    ])
    assert.deepEqual(duplicates.group(404), [])
  })

  const copies: [what: string, a: string, b: string, kind: string][] = [
    [
      'the same words in another layout',
      textOf(1, 100),
      `\n${textOf(1, 100).toUpperCase()}. `,
      'exact',
    ],
    ['one changed word', textOf(1, 100), textOf(1, 100, [50]), 'near'],
    ['8 of 100 changed words', textOf(1, 100), textOf(1, 100, every(100, 13)), 'near'],
    [
      'page furniture around it',
      textOf(1, 200),
      `home news about ${textOf(1, 200)} all rights reserved`,
      'near',
    ],
    ['the last tenth cut off', textOf(1, 200), textOf(1, 180), 'near'],
    ['25 of 100 changed words', textOf(1, 100), textOf(1, 100, every(100, 4)), 'unique'],
    ['half of the text', textOf(1, 200), textOf(1, 100), 'unique'],
    ['the same words in a short text, one changed', textOf(1, 40), textOf(1, 40, [20]), 'near'],
    ['3 of 40 changed words', textOf(1, 40), textOf(1, 40, [5, 20, 33]), 'unique'],
    ['a short text with another number', `${textOf(1, 40)} 5`, `${textOf(1, 40)} 6`, 'unique'],
    ['a long text with another number', `${textOf(1, 90)} 5`, `${textOf(1, 90)} 6`, 'near'],
    ['a tiny text, twice', textOf(1, 3), textOf(1, 3), 'exact'],
    ['a tiny text with a word more', textOf(1, 14), textOf(1, 15), 'unique'],
    ['a form filled in anew', forms(range(1_000, 12)), forms(range(9_000, 12)), 'unique'],
    [
      'a form with one other number',
      forms(range(1_000, 12)),
      forms([...range(1_000, 11), 7]),
      'near',
    ],
    ['an empty text, twice', '', ' ', 'unique'],
    [
      'Chinese, traditional and simplified',
      '這個資料庫說明漢語網頁的複製',
      '这个资料库说明汉语网页的复制',
      'exact',
    ],
  ]
  for (const [what, a, b, kind] of copies)
    it(`is ${kind} for ${what}`, () => {
      for (const [first, second] of [
        [a, b],
        [b, a],
      ] as const) {
        const { place, duplicates } = setUp()
        place(1, first)
        const placed = place(2, second)
        assert.equal(placed.kind, kind)
        assert.equal(placed.group, kind === 'unique' ? 2 : 1)
        assert.equal(placed.original, kind === 'unique' ? null : 1)
        if (kind === 'near') assert.ok(placed.similarity >= 0.63 && placed.similarity <= 1)
        assert.equal(duplicates.group(1).length, kind === 'unique' ? 1 : 2)
      }
    })

  it('stays as it is for the same text, and nothing is written', () => {
    const { place, db } = setUp()
    place(1, textOf(1, 100))
    place(2, textOf(1, 100, [7]))
    place(3, textOf(1, 100))
    const changes = db.prepare('SELECT total_changes()')
    const written = changes.value()
    for (const [urlId, topic, kind] of [
      [1, [], 'unique'],
      [2, [7], 'near'],
      [3, [], 'exact'],
    ] as const) {
      const placed = place(urlId, textOf(1, 100, topic))
      assert.deepEqual([placed.kind, placed.group, placed.sameAsBefore], [kind, 1, true])
    }
    assert.equal(changes.value(), written)
  })

  it('changes with the text: out of the group, and back again', () => {
    const { place, duplicates, db } = setUp()
    place(1, textOf(1, 100))
    place(2, textOf(1, 100, [7]))
    assert.deepEqual([place(2, textOf(2, 100)).kind, duplicates.group(1).length], ['unique', 1])
    assert.equal(place(2, textOf(1, 100, [8])).group, 1)
    checkInvariants(db)
  })

  it('keeps the number of a lone page through a change', () => {
    const { place } = setUp()
    place(1, textOf(1, 100))
    place(2, textOf(1, 100, [7]))
    place(1, textOf(2, 100))
    const { group } = place(1, textOf(3, 100))
    assert.equal(place(1, textOf(4, 100)).group, group)
  })

  it('hands an exact copy the postings when the page that had them goes or changes', () => {
    for (const leave of ['remove', 'change'] as const) {
      const { place, remove, duplicates, db } = setUp()
      for (const urlId of [1, 2, 3]) place(urlId, textOf(1, 100))
      const promoted = leave === 'remove' ? remove(1) : place(1, textOf(2, 100)).promoted
      assert.equal(promoted, 2)
      assert.deepEqual(
        duplicates.group(2).map(({ urlId, role }) => [urlId, role]),
        [
          [2, 'centre'],
          [3, 'exact'],
        ],
      )
      assert.equal(place(3, textOf(1, 100)).original, 2)
      assert.equal(place(9, textOf(1, 100, [3])).kind, 'near')
      checkInvariants(db)
    }
  })

  it('keeps the number of a group whose centre goes; the page that comes back has another', () => {
    const { place, remove, duplicates, db } = setUp()
    place(1, textOf(1, 100))
    place(2, textOf(1, 100, [7]))
    place(3, textOf(1, 100, every(100, 15)))
    assert.equal(place(1, textOf(2, 100)).group, -1)
    assert.deepEqual(
      duplicates.group(3).map(({ urlId, role }) => [urlId, role]),
      [
        [2, 'centre'],
        [3, 'near'],
      ],
    )
    assert.equal(place(3, textOf(1, 100, every(100, 15))).group, 1)
    assert.equal(remove(2), null)
    assert.equal(remove(2), null)
    assert.equal(duplicates.group(3)[0]?.role, 'centre')
    checkInvariants(db)
  })

  it('lets others find the new centre of a group', () => {
    const { place, remove } = setUp()
    place(1, textOf(1, 100))
    place(2, textOf(1, 100, [7]))
    remove(1)
    assert.equal(place(3, textOf(1, 100, [7, 50])).original, 2)
  })

  it('does not drift: a member may be like a witness, but stays around the centre', () => {
    const { place, db } = setUp()
    const groups = new Set<number>()
    for (let version = 0; version < 30; version++)
      groups.add(
        place(
          version + 1,
          textOf(
            1,
            200,
            every(200, 50).flatMap((i) => Array.from({ length: version }, (_, v) => i + v)),
          ),
        ).group,
      )
    assert.ok(groups.size > 1 && groups.size < 10, `${groups.size} groups`)
    checkInvariants(db)
  })

  /** `count` positions of 400 that lie apart, others for another `from`. */
  const apart = (count: number, from: number): number[] => every(400, 8, from).slice(0, count)

  it('lets two groups become one where a page fits both; who is not around the new centre leaves', () => {
    const { place, duplicates, db } = setUp()
    const [first, second, far] = [apart(30, 0), apart(30, 2), apart(40, 5)]
    for (const urlId of [1, 2, 3]) place(urlId, textOf(1, 400))
    assert.equal(place(10, textOf(1, 400, [...first, ...second])).kind, 'unique')
    const leaves = textOf(1, 400, [...first, ...second, ...far])
    assert.equal(place(11, leaves).group, 10)
    assert.equal(place(12, leaves).kind, 'exact')
    assert.equal(place(20, textOf(1, 400, first)).group, 1)
    assert.deepEqual(
      duplicates
        .group(1)
        .map(({ urlId }) => urlId)
        .toSorted((a, b) => a - b),
      [1, 2, 3, 10, 20],
    )
    assert.deepEqual(
      duplicates.group(12).map(({ urlId, role }) => [urlId, role]),
      [
        [11, 'centre'],
        [12, 'exact'],
      ],
    )
    checkInvariants(db)
  })

  it('places members anew that are not around the heir of their centre', () => {
    const { place, remove, duplicates, db } = setUp()
    place(1, textOf(1, 400))
    assert.equal(place(2, textOf(1, 400, apart(30, 0))).group, 1)
    assert.equal(place(3, textOf(1, 400, apart(38, 4))).group, 1)
    remove(1)
    assert.deepEqual([duplicates.group(2).length, duplicates.group(3).length], [1, 1])
    assert.equal(place(4, textOf(1, 400, [...apart(38, 4), 1])).original, 3)
    checkInvariants(db)
  })

  it('keeps a member that changes a little less like its group than a stranger must be', () => {
    const like = (text: string): number =>
      textSimilarity(fingerprint(textOf(1, 400), 4_711).sketch, fingerprint(text, 4_711).sketch)
    const text = Array.from({ length: 65 }, (_, count) =>
      textOf(1, 400, every(400, 6).slice(0, count)),
    ).find((candidate) => like(candidate) < 0.63)
    assert.ok(text !== undefined && like(text) >= 0.6)
    const stranger = setUp()
    stranger.place(1, textOf(1, 400))
    assert.equal(stranger.place(2, text).kind, 'unique')
    const member = setUp()
    member.place(1, textOf(1, 400))
    member.place(2, textOf(1, 400, [3]))
    assert.equal(member.place(2, text).kind, 'near')
  })

  it('finds copies after a new start and after a rollback', () => {
    const { db, place, duplicates } = setUp()
    for (let topic = 1; topic <= 20; topic++) place(topic, textOf(topic, 100))
    assert.throws(() =>
      db.transaction(() => {
        duplicates.place({ urlId: 90, hostId: 1, fingerprint: fingerprint(textOf(90, 100), 4_711) })
        throw new Error('the disk is full')
      }),
    )
    duplicates.rolledBack()
    assert.equal(place(91, textOf(90, 100, [4])).kind, 'unique')
    assert.equal(place(92, textOf(20, 100, [4])).group, 20)
    const reopened = openDuplicates(db)
    let slices = 1
    while (!reopened.load(5)) slices += 1
    assert.ok(slices > 3)
    assert.equal(reopened.stats().entries, duplicates.stats().entries)
    const print = fingerprint(textOf(7, 100, [4]), 4_711)
    db.transaction(() =>
      assert.equal(reopened.place({ urlId: 93, hostId: 1, fingerprint: print }).group, 7),
    )
  })

  it('knows every page again after its tables were given back', () => {
    const { duplicates, place } = setUp()
    place(1, textOf(1, 100))
    assert.ok(duplicates.stats().bytes > 0)
    duplicates.forget()
    assert.equal(duplicates.stats().bytes, 0)
    assert.equal(place(2, textOf(1, 100, [4])).group, 1)
    assert.ok(duplicates.stats().entries >= 1)
  })

  it('reads its tables in slices, and lets in whoever does not want to wait', async () => {
    const { db, place } = setUp()
    for (let urlId = 1; urlId <= 20; urlId += 1) place(urlId, textOf(urlId, 100))
    const reopened = openDuplicates(db)
    let slices = 0
    const slow = { load: () => (slices += 1) > 5 || reopened.load(2) }
    loadInSlices(slow)
    assert.equal(slices, 1, 'one slice at once')
    const print = fingerprint(textOf(19, 100, [4]), 4_711)
    const placed = db.transaction(() =>
      reopened.place({ urlId: 93, hostId: 1, fingerprint: print }),
    )
    assert.equal(placed.group, 19, 'though only two rows were read before')
    await new Promise((done) => setImmediate(done))
    assert.ok(slices > 1, 'the next one a turn later')
    assert.ok(reopened.stats().entries >= 20)
  })

  it('needs the transaction of its caller', () => {
    const { duplicates } = setUp()
    const page = { urlId: 1, hostId: 1, fingerprint: fingerprint('x', 1) }
    assert.throws(() => duplicates.place(page), /transaction/)
    assert.throws(() => duplicates.remove(1), /transaction/)
  })

  it('goes on with exact copies where memory has no more room', () => {
    const { place, duplicates } = setUp({ entriesMax: 2 })
    for (const topic of [1, 2, 3]) place(topic, textOf(topic, 100))
    const { entries, refusedEntries } = duplicates.stats()
    assert.deepEqual([entries, refusedEntries], [2, 1])
    assert.equal(place(11, textOf(1, 100, [4])).kind, 'near')
    assert.equal(place(13, textOf(3, 100, [4])).kind, 'unique')
    assert.equal(place(23, textOf(3, 100)).kind, 'exact')
  })

  it('shows no more members than asked for, the nearest first', () => {
    const { place, duplicates } = setUp()
    for (let urlId = 1; urlId <= 30; urlId++) place(urlId, textOf(1, 150, every(urlId % 9, 1)))
    const members = duplicates.group(3, 10)
    assert.equal(members.length, 10)
    assert.equal(members[0]?.role, 'centre')
    const likes = members.map(({ similarity }) => similarity)
    assert.deepEqual(
      likes,
      likes.toSorted((a, b) => b - a),
    )
  })

  it('keeps all rules through any pages that come, change and go', () => {
    const step = fc.record({
      urlId: fc.integer({ min: 1, max: 40 }),
      topic: fc.integer({ min: 1, max: 3 }),
      version: fc.integer({ min: 0, max: 12 }),
      isNewStart: fc.integer({ min: 0, max: 49 }).map((n) => n === 0),
      act: fc.constantFrom('place', 'place', 'place', 'place', 'place', 'remove', 'remove'),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 30, maxLength: 120 }), (steps) => {
        const { db, place, remove, duplicates } = setUp()
        for (const { urlId, topic, version, act, isNewStart } of steps) {
          if (isNewStart) duplicates.rolledBack()
          if (act === 'remove') remove(urlId)
          else
            place(
              urlId,
              textOf(
                topic,
                100,
                every(100, 25).flatMap((i) => Array.from({ length: version }, (_, v) => i + v)),
              ),
            )
        }
        checkInvariants(db)
        place(99, textOf(1, 100))
        const { entries } = duplicates.stats()
        const count = db.prepare('SELECT count(*) FROM fingerprint WHERE role <= 1')
        assert.equal(entries, count.value())
        db.close()
      }),
      { numRuns: 25 },
    )
  })
})

describe('the labelled pairs', { skip: pairsAreMissing }, () => {
  before(() => void loadTestTables())

  it('are told apart: F1 at least .995, no false pair', () => {
    const { texts, pairs } = readLabelledPairs()
    const { db, place } = setUp()
    const groups = new Map<string, number>()
    const urlIds = new Map(texts.map(({ id }, i) => [id, i + 1]))
    db.exec('PRAGMA synchronous=OFF')
    for (const [i, { text }] of texts.entries()) place(i + 1, text, 1 + (i % 7))
    const grp = db.prepare<{ grp: number }>('SELECT grp FROM fingerprint WHERE url_id = ?')
    for (const [id, urlId] of urlIds) groups.set(id, grp.value(urlId) ?? 0)
    let [found, missed] = [0, 0]
    const wrong: string[] = []
    for (const { a, b, label, type } of pairs) {
      const isSame = groups.get(a) === groups.get(b)
      if (label === '1' && isSame) found += 1
      else if (label === '1') missed += 1
      else if (label === '0' && isSame) wrong.push(`${a} ${b} ${type}`)
    }
    assert.deepEqual(wrong, [])
    assert.ok(found > 1_900)
    assert.ok((2 * found) / (2 * found + missed) >= 0.995, `${missed} missed`)
    checkInvariants(db)
  })
})
