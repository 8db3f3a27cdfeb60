/** Pages made to hide the copies of a victim, or to be taken for it: what is still found, what it costs at most, and that no page is lost. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { openDuplicates, type Placement } from '../../../src/crawl/duplicates.ts'
import { mix32 } from '../../../src/lib/hash.ts'
import { migrate, openDatabase } from '../../../src/lib/sqlite.ts'
import { migrations } from '../../../src/store/schema.ts'
import { type Fingerprint, fingerprint } from '../../../src/text/fingerprint.ts'
import { loadTestTables } from '../../text-tables.ts'

const floods = 1_000
const [victimHost, hostileHost, copyHost] = [1, 666, 3]
const victimId = 1
const copyIds = [900_001, 900_002, 900_003]
/** Of both sources of candidates, with the centres and witnesses that are looked at for a page that joins. */
const verificationsMax = 2 * 16 + 40

const words = (topic: number, from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `w${mix32(topic * 1_000 + from + i).toString(36)}`)
const victimText = (changed: number): string =>
  words(1, 0, 200)
    .map((word, i) => (i >= changed && i < changed + 3 ? 'changed' : word))
    .join(' ')

let state = 99
const random = (): number => mix32((state = (state + 0x9e3779b9) | 0))
const bytes = (count: number): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: count }, () => random() & 0xff)
/** Nibbles 1..15: no bin is empty. */
const sketch = (): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: 144 }, () => (1 + (random() % 15)) | ((1 + (random() % 15)) << 4))
const anchors = (): Uint32Array<ArrayBuffer> => Uint32Array.from({ length: 8 }, random)
function flipped(print: Fingerprint, bits: number): { simHi: number; simLo: number } {
  let { simHi, simLo } = print
  for (let i = 0; i < bits; i += 1) {
    const bit = random() % 64
    if (bit < 32) simLo = (simLo ^ (1 << bit)) >>> 0
    else simHi = (simHi ^ (1 << (bit - 32))) >>> 0
  }
  return { simHi, simLo }
}

type Attack = {
  name: string
  make: (victim: Fingerprint) => Fingerprint
  /** Of three true copies that come after the flood. */
  found: number
}
const alien = (victim: Fingerprint, change: Partial<Fingerprint>): Fingerprint => ({
  ...victim,
  digest: bytes(16),
  sketch: sketch(),
  anchors: anchors(),
  ...change,
})
const attacks: Attack[] = [
  {
    name: 'one block of the SimHash is that of the victim',
    make: (victim) =>
      alien(victim, {
        simHi: random(),
        simLo: (((random() & 0xffff) << 16) | (victim.simLo & 0xffff)) >>> 0,
      }),
    found: 3,
  },
  {
    name: 'the SimHash is within 3 bits',
    make: (victim) => alien(victim, flipped(victim, 3)),
    found: 3,
  },
  {
    name: 'all anchors are those of the victim, and the SimHash within 18 bits',
    make: (victim) => alien(victim, { ...flipped(victim, 16), anchors: victim.anchors }),
    found: 3,
  },
  {
    name: 'half of the text is that of the victim',
    make: () =>
      fingerprint([...words(1, 0, 100), ...words(10 + (random() % 1e6), 0, 100)].join(' '), 7),
    found: 3,
  },
  {
    // It takes the secret seed. A copy is not folded then; no page is lost.
    name: 'SimHash and anchors are those of the victim, and the text is another',
    make: (victim) => alien(victim, { anchors: victim.anchors }),
    found: 0,
  },
]

function setUp() {
  const db = openDatabase(':memory:')
  migrate(db, migrations)
  const duplicates = openDuplicates(db)
  const place = (urlId: number, hostId: number, print: Fingerprint): Placement =>
    db.transaction(() => duplicates.place({ urlId, hostId, fingerprint: print }))
  return { db, duplicates, place }
}

describe('a flood of pages made for one victim', () => {
  before(() => void loadTestTables())
  for (const { name, make, found } of attacks)
    it(`costs a bounded work each, and hides at most copies: ${name}`, () => {
      const { duplicates, place } = setUp()
      const victim = fingerprint(victimText(0), 7)
      const { group } = place(victimId, victimHost, victim)
      let dearest = 0
      for (let i = 0; i < floods; i += 1) {
        const earlier = duplicates.stats().verifications
        place(100_000 + i, hostileHost, make(victim))
        dearest = Math.max(dearest, duplicates.stats().verifications - earlier)
      }
      assert.ok(dearest <= verificationsMax, `${dearest} comparisons for one page`)
      const placed = copyIds.map((id, i) =>
        place(id, copyHost, fingerprint(victimText(50 * (i + 1)), 7)),
      )
      assert.equal(placed.filter((one) => one.group === group).length, found)
      // The victim is what it was, and nobody else is in its group.
      const members = duplicates.group(victimId)
      assert.equal(members.find(({ urlId }) => urlId === victimId)?.role, 'centre')
      const joined = copyIds.filter((_, i) => placed[i]?.group === group)
      assert.deepEqual(new Set(members.map(({ urlId }) => urlId)), new Set([victimId, ...joined]))
      assert.ok(placed.every(({ kind }) => kind === 'near' || kind === 'unique'))
    })

  it('of exact copies takes no entry in memory, of near copies few, and one group has them all', () => {
    const { duplicates, place } = setUp()
    const { group } = place(victimId, victimHost, fingerprint(victimText(0), 7))
    for (let i = 0; i < floods; i += 1)
      place(100_000 + i, hostileHost, fingerprint(victimText(0), 7))
    assert.equal(duplicates.stats().entries, 1)
    for (let i = 0; i < floods; i += 1)
      place(200_000 + i, hostileHost, fingerprint(`${victimText(0)} number${i}`, 7))
    assert.ok(duplicates.stats().entries <= 9)
    assert.equal(place(copyIds[0] as number, copyHost, fingerprint(victimText(50), 7)).group, group)
    assert.equal(duplicates.group(victimId, 2 * floods + 2).length, 2 * floods + 2)
  })
})

describe('pages without anything to compare', () => {
  before(() => void loadTestTables())
  it('are nobody’s copy: empty ones, short ones, and ones of common words alone', () => {
    const { place } = setUp()
    const texts = ['', '', '。。。', 'A short one', 'A short two']
    // Their SimHash is 0: no word has a vote.
    const common = ['the and for with that this from', 'are was were have has had not but']
    for (const [i, text] of texts.entries())
      assert.equal(place(i + 1, i + 1, fingerprint(text, 7)).kind, 'unique', text)
    for (const [i, text] of common.entries()) {
      const print = fingerprint(`${text} `.repeat(12), 7)
      assert.deepEqual([print.simHi, print.simLo], [0, 0])
      assert.equal(place(50 + i, 9, print).kind, 'unique', text)
    }
  })
})
