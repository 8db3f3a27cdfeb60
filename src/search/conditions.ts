/** Conditions of a query as sets of documents: postings first, then titles, addresses, fields and stored texts of what is left. */
import { AppError } from '../lib/errors.ts'
import type { RoaringSet } from '../lib/roaring.ts'
import { hostOf } from '../lib/url.ts'
import type { Reader } from '../store/reader.ts'
import { TITLE_QUANT_MIN } from '../text/document-terms.ts'
import { foldText } from '../text/normalize.ts'
import type { Analyzer } from '../text/tokenize.ts'
import { type Attributes, isOnSite } from './attributes.ts'
import {
  createSet,
  type DocnoSet,
  eachOf,
  has,
  insert,
  intersect,
  invert,
  remove,
  setOf,
  sizeOf,
  unite,
  without,
} from './docno-set.ts'
import { FilterSets, noFilter } from './filter-sets.ts'
import type { IndexReader } from './index.ts'
import { ownTermOfPair, UNCOUNTED_PAIRS } from './pairs.ts'
import type { Condition } from './query.ts'
import { isHanTerm } from './score.ts'
import { expandPrefix, termsOfPhrase } from './terms.ts'
import { holdsPhrase, isTwoWords, pairsOfPhrase, type Phrase, phraseOf } from '../text/phrase.ts'
import { PhraseTexts } from './phrase-texts.ts'

/** Rows between two looks at the clock. */
const rowsUnwatched = 256
/** A set that is not kept yet is made of all documents, unless fewer than one of so many are asked about. */
const fewOfAll = 16
/** Of a phrase: each is a list of postings to read. */
const pairsMax = 64

export type Conditions = {
  /** Documents on one of these sites or below one of these folders; null for no sites. */
  within(sites: readonly string[]): ((docno: number) => boolean) | null
  /** Documents that hold all of them; `isExact` = false where time ran out: some that hold are missing then. */
  evaluate(
    conditions: readonly Condition[],
    deadlineMs: number,
    /** A document that is none of them; null = none is left out. */
    leftOut?: number | null,
  ): { set: DocnoSet; isExact: boolean } | null
}

type Question = {
  deadlineMs: number
  /** Texts are read until then. */
  readUntilMs: number
  isExact: boolean
}

/** What it costs to evaluate: cheap ones first, so that the others look at few documents. */
const costs: Record<Condition['kind'], number> = {
  words: 1,
  prefix: 1,
  lang: 2,
  type: 2,
  time: 2,
  all: 3,
  any: 3,
  site: 4,
  title: 4,
  field: 5,
  keyword: 5,
  url: 5,
  phrase: 6,
  not: 7,
}

export function createConditions(
  store: Reader,
  analyzer: Analyzer,
  index: IndexReader,
  attributes: Attributes,
): Conditions {
  const evaluator = new Evaluator(store, analyzer, index, attributes)
  return {
    within: (sites) => (sites.length === 0 ? null : evaluator.within(sites)),
    evaluate(conditions, deadlineMs, leftOut = null) {
      if (conditions.length === 0 && leftOut === null) return null
      const nowMs = performance.now()
      const question = {
        deadlineMs,
        readUntilMs: nowMs + (deadlineMs - nowMs) / 2,
        isExact: true,
      }
      const set = evaluator.all(conditions, null, question)
      if (leftOut !== null) remove(set, leftOut)
      return { set, isExact: question.isExact }
    },
  }
}

/** `within`: only these documents matter; null = all. */
class Evaluator {
  readonly #index: IndexReader
  readonly #analyzer: Analyzer
  readonly #attributes: Attributes
  readonly #sets: FilterSets
  readonly #statements: ReturnType<typeof prepare>
  readonly #texts: PhraseTexts

  constructor(store: Reader, analyzer: Analyzer, index: IndexReader, attributes: Attributes) {
    this.#analyzer = analyzer
    this.#index = index
    this.#attributes = attributes
    this.#sets = new FilterSets(store.db, attributes)
    this.#statements = prepare(store)
    this.#texts = new PhraseTexts(store)
  }

  within(sites: readonly string[]): (docno: number) => boolean {
    const tests = sites.map(siteTest)
    const key = `sites ${sites.join(' ')}`
    const test: UrlTest = (origin, path) => tests.some((isOn) => isOn(origin, path))
    const set = this.#sets.addresses(key, test, () => false)
    return (docno) => set?.has(docno) === true
  }

  all(conditions: readonly Condition[], within: DocnoSet | null, question: Question): DocnoSet {
    let set = within
    for (const condition of conditions.toSorted((a, b) => costs[a.kind] - costs[b.kind])) {
      const found = this.#evaluate(condition, set, question)
      set = set === null ? found : intersect(found, set)
    }
    return set ?? this.#everything()
  }

  #evaluate(condition: Condition, within: DocnoSet | null, question: Question): DocnoSet {
    refuseLate(question)
    switch (condition.kind) {
      case 'all':
        return this.all(condition.of, within, question)
      case 'any':
        return condition.of
          .map((one) => this.#evaluate(one, within, question))
          .reduce((set, other) => unite(set, other), createSet(this.#index.docnoLimit()))
      case 'not':
        return invert(this.#evaluate(excluded(condition.of), within, question))
      case 'words':
        return this.#words(condition.text, question)
      case 'prefix':
        return this.#anyOf(expandPrefix(condition.text, this.#analyzer, this.#index), question)
      case 'phrase':
        return this.#phrase(condition.text, within, question)
      case 'title':
        return this.#title(condition.text, condition.isPhrase, within, question)
      case 'url':
        return this.#addresses(`url ${condition.text}`, urlTest(condition.text), within, question)
      case 'site':
        return condition.text.includes('/')
          ? this.#addresses(`path ${condition.text}`, siteTest(condition.text), within, question)
          : this.#having('site', condition.text, within)
      case 'lang':
        return this.#having('lang', condition.text, within)
      case 'type':
        return this.#having('fileType', condition.text, within)
      case 'time':
        return this.#filtered(
          { ...noFilter, sinceMs: condition.afterMs, untilMs: condition.beforeMs },
          within,
        )
      case 'field':
        return this.#field(condition)
      case 'keyword':
        return this.#withCopies(this.#sets.keyword(condition.text))
    }
  }

  #everything(): DocnoSet {
    return invert(createSet(this.#index.docnoLimit()))
  }

  #holders(term: string, question: Question, quantMin = 0): DocnoSet {
    const set = createSet(this.#index.docnoLimit())
    const { docnos, quants, count } = this.#index.postings(term, question.deadlineMs)
    for (let i = 0; i < count; i += 1)
      if ((quants[i] as number) >= quantMin) insert(set, docnos[i] as number)
    return set
  }

  #anyOf(terms: readonly string[], question: Question): DocnoSet {
    return terms
      .map((term) => this.#holders(term, question))
      .reduce((set, other) => unite(set, other), createSet(this.#index.docnoLimit()))
  }

  #allOf(terms: readonly string[], question: Question, quantMin = 0): DocnoSet | null {
    let set: DocnoSet | null = null
    for (const term of terms) {
      const holders = this.#holders(term, question, quantMin)
      set = set === null ? holders : intersect(set, holders)
    }
    return set
  }

  /** Every word; a Han word also by its pairs of characters, because a page may be cut otherwise. */
  #words(text: string, question: Question): DocnoSet {
    let set: DocnoSet | null = null
    for (const { term, form, isPart, parts } of this.#analyzer.query(text).words) {
      if (isPart) continue
      let holders = this.#holders(term, question)
      const pairs = isHanTerm(term) ? this.#analyzer.query(form).bigrams : parts
      if (pairs.length > 0) {
        const whole = this.#allOf(pairs, question)
        // getUserName as its parts only where the name itself is nowhere.
        if (whole && (isHanTerm(term) || this.#index.frequency(term) === 0))
          holders = unite(holders, whole)
      }
      set = set === null ? holders : intersect(set, holders)
    }
    // Punctuation asks for nothing.
    return set ?? this.#everything()
  }

  #phrase(text: string, within: DocnoSet | null, question: Question): DocnoSet {
    const phrase = phraseOf(text)
    if (phrase === null) return this.#everything()
    const { terms, isSure } = termsOfPhrase(this.#analyzer, text)
    const candidates = this.#allOf(terms, question) ?? this.#everything()
    if (within !== null) intersect(candidates, within)
    const sure = this.#keepNeighbours(candidates, text, phrase, question)
    this.#keepLiving(candidates)
    if (isSure) return candidates
    const unsure = sure === null ? candidates : without(candidates, sure)
    const limit = this.#index.docnoLimit()
    const { set, isExact } = this.#texts.judge(phrase, unsure, limit, question.readUntilMs)
    question.isExact &&= isExact
    return sure === null ? set : unite(set, intersect(sure, candidates))
  }

  /**
   * Leaves those on which every two words of the phrase may stand beside each other: nearly all of them hold it.
   * @returns documents that certainly hold it where they are candidates; null where only texts tell
   */
  #keepNeighbours(
    candidates: DocnoSet,
    text: string,
    phrase: Phrase,
    question: Question,
  ): DocnoSet | null {
    if (!this.#analyzer.hasPairs) return null
    const pairs = pairsOfPhrase(text).slice(0, pairsMax)
    if (pairs.length === 0) return null
    const uncounted = this.#holders(UNCOUNTED_PAIRS, question)
    let sure: DocnoSet | null = null
    for (const pair of pairs) {
      sure = this.#holders(ownTermOfPair(pair), question)
      const set = unite(Uint32Array.from(uncounted), sure)
      const { docnos, count } = this.#index.pairHolders(pair, question.deadlineMs)
      for (let i = 0; i < count; i += 1) insert(set, docnos[i] as number)
      intersect(candidates, set)
    }
    return isTwoWords(phrase) ? sure : null
  }

  #keepLiving(candidates: DocnoSet): void {
    eachOf(candidates, (docno) => {
      if (!this.#index.isLiving(docno)) remove(candidates, docno)
      return true
    })
  }

  /** The quant of a word of a title tells it from most that are not in it. */
  #title(text: string, isPhrase: boolean, within: DocnoSet | null, question: Question): DocnoSet {
    const phrase = phraseOf(text)
    const query = this.#analyzer.query(text)
    const words = query.words.filter(({ isPart }) => !isPart)
    if (phrase === null || words.length === 0) return this.#everything()
    const terms = [
      ...words.filter(({ term }) => !isHanTerm(term)).map(({ term }) => term),
      ...query.bigrams,
    ]
    const candidates = this.#allOf(terms, question, TITLE_QUANT_MIN) ?? this.#everything()
    if (within !== null) intersect(candidates, within)
    const wanted = new Set(terms)
    return this.#each(candidates, question, (docno) => {
      const title = this.#statements.title.value(docno)
      if (title === undefined) return false
      if (isPhrase) return holdsPhrase(foldText(title), phrase)
      const there = new Set(this.#analyzer.places(title, wanted).map(({ term }) => term))
      return terms.every((term) => there.has(term))
    })
  }

  #filtered(filter: Parameters<Attributes['accepts']>[0], within: DocnoSet | null): DocnoSet {
    const passes = this.#attributes.accepts(filter) ?? ((): boolean => true)
    const set = createSet(this.#index.docnoLimit())
    const judge = (docno: number): boolean => {
      if (passes(docno) || this.#attributes.copiesOf(docno).some(passes)) insert(set, docno)
      return true
    }
    if (within !== null) eachOf(within, judge)
    else
      for (let docno = 0; docno < this.#index.docnoLimit(); docno += 1)
        if (this.#index.isLiving(docno)) judge(docno)
    return set
  }

  #addresses(key: string, test: UrlTest, within: DocnoSet | null, question: Question): DocnoSet {
    const kept = this.#sets.addresses(key, test, this.#isFew(within))
    if (kept !== null) return setOf(kept, this.#index.docnoLimit())
    return this.#each(within ?? this.#everything(), question, (docno) => {
      const row = this.#statements.url.get(docno)
      return row !== undefined && test(row.origin, row.path)
    })
  }

  /** Of so few, each is looked at rather than all documents. */
  #isFew(within: DocnoSet | null): () => boolean {
    return () => within !== null && sizeOf(within) * fewOfAll < this.#index.docnoLimit()
  }

  #field({ name, test }: Extract<Condition, { kind: 'field' }>): DocnoSet {
    if (test.op !== 'isNot') return this.#withCopies(this.#sets.field(name, test))
    return invert(this.#withCopies(this.#sets.field(name, { op: 'is', value: test.value })))
  }

  #having(kind: 'lang' | 'fileType' | 'site', value: string, within: DocnoSet | null): DocnoSet {
    const set = this.#sets.filtered(kind, value, this.#isFew(within))
    return set === null
      ? this.#filtered({ ...noFilter, [kind]: [value] }, within)
      : this.#withCopies(set)
  }

  /** A document is found by its exact copies too: they have no postings of their own. */
  #withCopies(kept: RoaringSet): DocnoSet {
    const set = setOf(kept, this.#index.docnoLimit())
    this.#attributes.eachCopy((copy, original) => {
      if (has(set, copy)) insert(set, original)
    })
    return set
  }

  /** Those of the living candidates that pass. */
  #each(candidates: DocnoSet, question: Question, test: (docno: number) => boolean): DocnoSet {
    const set = createSet(this.#index.docnoLimit())
    let looked = 0
    eachOf(candidates, (docno) => {
      if (!this.#index.isLiving(docno)) return true
      if (++looked % rowsUnwatched === 0) refuseLate(question)
      if (test(docno)) insert(set, docno)
      return true
    })
    return set
  }
}

const prepare = ({ db }: Reader) => ({
  title: db.prepare<{ title: string }>('SELECT title FROM doc WHERE docno=?'),
  url: db.prepare<{ origin: string; path: string }>(
    `SELECT h.origin, u.path FROM doc d JOIN url u ON u.id = d.url_id JOIN host h ON h.id = u.host
     WHERE d.docno=?`,
  ),
})

type UrlTest = (origin: string, path: string) => boolean

/** Anywhere in the address, in any case; as it is typed or as it is escaped. */
function urlTest(text: string): UrlTest {
  const plain = text.normalize('NFKC').toWellFormed().toLowerCase()
  const escaped = encodeURI(plain).toLowerCase()
  return (origin, path) => {
    const address = (origin + path).toLowerCase()
    return address.includes(plain) || address.includes(escaped)
  }
}

/** A host, and the folder or page that the path names, if there is one. */
function siteTest(text: string): UrlTest {
  const slash = text.indexOf('/')
  if (slash < 0) return (origin) => isOnSite(hostOf(`${origin}/`), text)
  const host = text.slice(0, slash)
  // What was escaped already is not escaped twice.
  const path = encodeURI(text.slice(slash).toWellFormed().replace(/\/+$/, '')).replace(
    /%25([\da-f]{2})/gi,
    (_, digits: string) => `%${digits.toUpperCase()}`,
  )
  return (origin, actual) =>
    isOnSite(hostOf(`${origin}/`), host) &&
    actual.startsWith(path) &&
    (actual.length === path.length || /[/?#]/.test(actual.charAt(path.length)))
}

/** -word of several words (well-known, 有限公司) means them where they stand together. */
const excluded = (condition: Condition): Condition =>
  condition.kind === 'words' && /[^\p{L}\p{N}\p{M}]|\p{Script=Han}{2}/u.test(condition.text)
    ? { kind: 'phrase', text: condition.text }
    : condition

function refuseLate({ deadlineMs }: Question): void {
  if (performance.now() > deadlineMs)
    throw new AppError('overloaded', 'the query took longer than its time', { retryAfterS: 1 })
}
