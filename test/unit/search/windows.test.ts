/** The best of a search, however few documents were looked at, are the best of all: compared with a naive scoring of every document. */
import assert from 'node:assert'
import { describe, it } from 'node:test'
import { createIndexReader, createIndexWriter } from '../../../src/search/flex.ts'
import { frequencies, lengthCode, lengths } from '../../../src/search/codes.ts'
import type { Db } from '../../../src/lib/sqlite.ts'
import type { IndexedDocument, IndexQuery, IndexWriter } from '../../../src/search/index.ts'
import { standingShares } from '../../../src/search/link-score.ts'
import { codeOfStanding, quantOfLinks } from '../../../src/search/link-terms.ts'
import { switchLinks } from '../../../src/search/segments.ts'
import { ranking } from '../../../src/search/ranking.ts'
import { createRandom } from '../../site/words.ts'
import { bury, createPlace, indexQuery } from './index-fixture.ts'

const documentCount = 6_000
/** In most documents, in some, in hardly any; in their beginning or their end only. */
const shares: Record<string, number> = {
  most: 0.7,
  many: 0.4,
  some: 0.08,
  few: 0.01,
  rare: 0.001,
  食品: 0.3,
  安全: 0.2,
  ' 食品': 0.25,
  ' 品安': 0.1,
}
const terms = [...Object.keys(shares), 'early', 'late']

function collection(random: () => number): IndexedDocument[] {
  return Array.from({ length: documentCount }, (_, i) => {
    const held = terms.filter((term) =>
      term === 'early'
        ? i < 900 && random() < 0.5
        : term === 'late'
          ? i > 5_000 && random() < 0.3
          : random() < (shares[term] ?? 0),
    )
    // Good pages lie together, as those of a site do.
    const isGood = Math.floor(i / 500) % 3 === 1
    const quants = Uint8Array.from(held, () => 8 + Math.floor(random() ** 3 * (isGood ? 40 : 12)))
    return {
      docno: 1 + i + Math.floor(i / 1_000),
      terms: held,
      quants,
      length: 20 + random() ** 2 * 2_000,
    }
  })
}

type Link = { isOwn: boolean; sites: number }
/** What links say of a document, by term, and the code of its standing. */
type Linked = { links: Map<string, Link>; code: number }
type World = {
  living: IndexedDocument[]
  mean: number
  linked: ReadonlyMap<number, Linked>
  fresh: ((docno: number) => number) | null
}

function linksOf(random: () => number, all: readonly IndexedDocument[]): Map<number, Linked> {
  const linked = new Map<number, Linked>()
  for (const { docno } of all) {
    if (random() < 0.5) continue
    const called = terms.filter((term) => !term.startsWith(' ') && random() < 0.03)
    const links = new Map(
      called.map((term): [string, Link] => [
        term,
        { isOwn: random() < 0.5, sites: 1 + Math.floor(random() ** 3 * 20) },
      ]),
    )
    const standing = { sites: Math.floor(random() ** 2 * 20), depth: Math.floor(random() * 8) }
    linked.set(docno, { links, code: codeOfStanding(standing) })
  }
  return linked
}
const lengthOf = ({ length }: IndexedDocument): number => lengths[lengthCode(length)] as number

function naive(
  { living, mean, linked, fresh }: World,
  query: IndexQuery,
  accept: (docno: number) => boolean,
) {
  const linkOf = (docno: number, term: string): Link | undefined =>
    linked.get(docno)?.links.get(term)
  const isCalled = ({ docno, terms: own }: IndexedDocument, term: string): boolean =>
    own.includes(term) || linkOf(docno, term) !== undefined
  const weighted = [
    ...query.words.map(({ term, weight }) => ({ term, weight, isWord: true })),
    ...query.bigrams.map(({ term, weight }) => ({
      term,
      weight: weight * ranking.bigramWeight,
      isWord: false,
    })),
    ...query.boosts.map(({ term, weight }) => ({ term, weight, isWord: false })),
  ].map(({ term, weight, isWord }) => {
    const n = living.filter((one) =>
      isWord ? isCalled(one, term) : one.terms.includes(term),
    ).length
    const idf = Math.log(1 + (living.length - n + 0.5) / (n + 0.5))
    return { term, weight: weight * idf, isWord }
  })
  const fits = (document: IndexedDocument): boolean => {
    const has = ({ term }: { term: string }): boolean => document.terms.includes(term)
    const holds = ({ term }: { term: string }): boolean => isCalled(document, term)
    if (
      query.without.some((term) => has({ term })) ||
      !query.required.every((term) => has({ term }))
    )
      return false
    // Parts rank, but no document must hold them.
    if (query.words.every(({ isPart }) => isPart))
      return weighted.some((one) => (one.isWord ? holds(one) : has(one)))
    const pairs = query.bigrams.length > 0 && query.bigrams.every(has)
    if (query.match === 'any') return query.words.some(holds) || pairs
    const isHan = ({ term }: { term: string }): boolean => /\p{Script=Han}/u.test(term)
    const [han, latin] = [query.words.filter(isHan), query.words.filter((word) => !isHan(word))]
    if (!latin.every(holds)) return false
    return pairs || (han.length === 0 ? query.bigrams.length === 0 : han.every(holds))
  }
  return living
    .filter((document) => fits(document) && accept(document.docno))
    .map((document) => {
      const { docno, quants } = document
      let score = 0
      for (const { term, weight, isWord } of weighted) {
        const i = document.terms.indexOf(term)
        const f = i < 0 ? 0 : (frequencies[quants[i] as number] as number)
        const k1 = /^ |^\p{Script=Han}/u.test(term) ? ranking.k1Han : ranking.k1Latin
        const norm = 1 - ranking.lengthShare + (ranking.lengthShare * lengthOf(document)) / mean
        const worth = (tf: number, own: number): number => (tf * (k1 + 1)) / (tf + k1 * own)
        if (f > 0) score += weight * worth(f, norm)
        const link = isWord ? linkOf(docno, term) : undefined
        if (link === undefined) continue
        const others = Math.min(
          ranking.otherLinksMax,
          ranking.otherLinksWeight * Math.log2(1 + link.sites),
        )
        const more = (link.isOwn ? ranking.ownLinksWeight : 0) + others
        score +=
          weight * (f > 0 ? worth(f + more, norm) - worth(f, norm) : worth(more, Math.max(1, norm)))
      }
      const { links, depth } = standingShares(linked.get(docno)?.code ?? 0)
      score += score * (links + depth + (fresh?.(docno) ?? 0))
      return { docno: document.docno, score }
    })
    .sort((a, b) => b.score - a.score || a.docno - b.docno)
}

function anyQuery(random: () => number): IndexQuery {
  const pick = (from: readonly string[], most: number): string[] => [
    ...new Set(
      Array.from(
        { length: Math.floor(random() * (most + 1)) },
        () => from[Math.floor(random() * from.length)] as string,
      ),
    ),
  ]
  const words = pick(
    terms.filter((term) => !term.startsWith(' ')),
    4,
  )
  const weightOf = (term: string) => ({ term, weight: 1 + Math.floor(random() * 2) })
  const query = indexQuery(words.length === 0 ? ['many'] : words, {
    bigrams: random() < 0.3 ? pick([' 食品', ' 品安'], 2).map(weightOf) : [],
    boosts: random() < 0.3 ? pick(['some', 'early'], 1).map(weightOf) : [],
    required: random() < 0.2 ? pick(['many', 'late'], 1) : [],
    without: random() < 0.2 ? pick(['some', 'early'], 1) : [],
    match: random() < 0.5 ? 'any' : 'all',
  })
  if (random() > 0.1) return query
  const parts = query.words.map((word) => ({ ...word, isPart: true }))
  return { ...query, words: parts, bigrams: [], match: 'all' }
}

/** As link-index.ts does. */
function writeLinks(db: Db, { ids }: IndexWriter, linked: ReadonlyMap<number, Linked>): void {
  const writer = createIndexWriter(db, { table: 'link_seg_next', ids, isPair: () => true })
  const documents = [...linked].map(([docno, { links, code }]) => ({
    docno,
    terms: [...links.keys()],
    quants: Uint8Array.from(links.values(), quantOfLinks),
    length: lengths[code] as number,
    pairs: new Uint32Array(),
  }))
  for (let i = 0; i < documents.length; i += 500) writer.apply(documents.slice(i, i + 500))
  while (writer.work(1_000, true));
  switchLinks(db)
}

const freshOf = (docno: number): number => ranking.freshShare / (1 + (docno % 50))

for (const { seed, isLinked } of [
  { seed: 1, isLinked: false },
  { seed: 2, isLinked: true },
  { seed: Date.now() % 1_000_000, isLinked: Date.now() % 2 === 0 },
])
  describe(`a search that may pass over documents${isLinked ? ' with links' : ''} (seed ${seed})`, () => {
    const random = createRandom(seed)
    const place = createPlace()
    const db = place.open()
    const all = collection(random)
    const writer = createIndexWriter(db, { pendingDocumentsMax: 700, fanIn: 4 })
    for (let i = 0; i < documentCount; i += 100) {
      writer.apply(all.slice(i, i + 100))
      while (writer.work(1_000, false));
    }
    const linked = isLinked ? linksOf(random, all) : new Map<number, Linked>()
    if (isLinked) writeLinks(db, writer, linked)
    const isDead = (i: number): boolean => i % 97 === 0

    for (const withDead of [false, true])
      it(`finds the best of all${withDead ? ', also where some are dead' : ''}`, () => {
        if (withDead) for (const [i, { docno }] of all.entries()) if (isDead(i)) bury(db, docno)
        const living = withDead ? all.filter((_, i) => !isDead(i)) : all
        const mean = living.reduce((sum, document) => sum + lengthOf(document), 0) / living.length
        const reader = createIndexReader(place.open(true))
        for (const segment of writer.pending()) reader.addPending(segment)
        reader.begin()
        let passedOver = 0
        for (let round = 0; round < 60; round += 1) {
          const query = anyQuery(random)
          const accept = random() < 0.3 ? (docno: number): boolean => docno % 3 !== 0 : () => true
          const fresh = isLinked && random() < 0.3 ? freshOf : null
          const expected = naive({ living, mean, linked, fresh }, query, accept)
          const limit = [1, 10, 40][round % 3] as number
          for (const countMin of [undefined, 0, 100, 1_000]) {
            const told = `${JSON.stringify(query)}, limit ${limit}, countMin ${countMin}`
            const { hits, total, isCounted } = reader.search(
              query,
              limit,
              Number.POSITIVE_INFINITY,
              accept,
              fresh,
              countMin,
            )
            assert.deepEqual(
              hits.map(({ docno }) => docno),
              expected.slice(0, limit).map(({ docno }) => docno),
              told,
            )
            for (const [i, { score }] of hits.entries())
              assert.ok(Math.abs(score - (expected[i]?.score ?? 0)) < 1e-9, told)
            if (isCounted) assert.equal(total, expected.length, told)
            else {
              passedOver += 1
              assert.ok(
                countMin !== undefined && total >= countMin && total < expected.length + 1,
                told,
              )
            }
          }
        }
        assert.ok(passedOver > 20, `${passedOver} searches left documents out`)
        reader.end()
        if (withDead) place.remove()
      })
  })
