/** Why a hit has its score: every part of it, in the order in which they were added up. Only on demand: it reads postings and texts again. */
import type { Reader } from '../store/reader.ts'
import { fieldTexts, fieldWeights } from '../text/document-terms.ts'
import { titleKeys } from '../text/title-key.ts'
import type { Analyzer } from '../text/tokenize.ts'
import type { Explanation, FieldCounts, StandingPart, TermPart } from './answer.ts'
import type { IndexHit, IndexReader, TermScore } from './index.ts'
import { standingShares } from './link-score.ts'
import { standingOfCode } from './link-terms.ts'
import type { Plan } from './plan.ts'

export type Explainer = (hits: readonly IndexHit[], plan: Plan) => (Explanation | null)[]

/** Explains hits as the search gave them, in the same snapshot; null where a document went away or nothing was scored. */
export function createExplainer(
  store: Pick<Reader, 'textByDocno'>,
  analyzer: Pick<Analyzer, 'tokens'>,
  index: Pick<IndexReader, 'explain' | 'standing'>,
): Explainer {
  return (hits, plan) => {
    const scored = index.explain(plan.index, hits.map(scoredDocno))
    return hits.map((hit): Explanation | null => {
      const terms = scored.get(scoredDocno(hit))
      const document = store.textByDocno(hit.docno)
      if (terms === undefined || document === null) return null
      const countOf = createCounter(analyzer, fieldTexts(document), titleKeys(document.title))
      const ofTerms = terms.reduce((sum, { score }) => sum + score, 0)
      return {
        score: hit.score,
        terms: terms.map((term) => termPart(term, countOf)),
        standing: standingParts(ofTerms, index.standing(scoredDocno(hit)), plan, scoredDocno(hit)),
        reread: (hit.reread?.question ?? []).map((part) => ({ ...part })),
        feedback: (hit.reread?.feedback ?? []).map((part) => ({ ...part })),
        field_weights: fieldWeights,
      }
    })
  }
}

/** An exact copy has no postings: those of its original were scored. */
const scoredDocno = ({ docno, scoredAs }: IndexHit): number => scoredAs ?? docno

/** Nothing for what adds nothing. */
function standingParts(
  ofTerms: number,
  code: number,
  { fresh }: Plan,
  docno: number,
): StandingPart[] {
  const part = (kind: StandingPart['kind'], value: number, share: number): StandingPart[] =>
    share > 0 ? [{ kind, value, share, score: ofTerms * share }] : []
  const { links, depth } = standingShares(code)
  const { sites, depth: parts } = code === 0 ? { sites: 0, depth: 0 } : standingOfCode(code)
  return [
    ...part('links', sites, links),
    ...part('depth', parts, depth),
    ...(fresh ? part('age', fresh.daysOf(docno), fresh.shareOf(docno)) : []),
  ]
}

const noFields: FieldCounts = { title: 0, text: 0, headings: 0, url: 0, rest: 0 }

const termPart = (
  { term, kind, weight, documents, idf, frequency, norm, k1, score, linkedBy }: TermScore,
  countOf: (term: string, kind: TermScore['kind']) => FieldCounts,
): TermPart => ({
  // The first character of a pair, or of a whole title, only says which kind it is.
  term: kind === 'word' || kind === 'links' ? term : term.slice(1),
  kind,
  weight,
  documents,
  idf,
  frequency,
  length_norm: norm,
  k1,
  fields: kind === 'links' ? noFields : countOf(term, kind),
  score,
  ...(linkedBy && { own_site: linkedBy.isOwn, sites: linkedBy.sites }),
})

type Field = keyof FieldCounts

/** How often a term stands in each field. */
function createCounter(
  analyzer: Pick<Analyzer, 'tokens'>,
  texts: Readonly<Record<Field, string>>,
  keys: readonly string[],
): (term: string, kind: TermScore['kind']) => FieldCounts {
  const fields = Object.keys(texts) as Field[]
  const counts = Object.fromEntries(
    fields.map((field) => {
      const count = new Map<string, number>()
      for (const { term } of analyzer.tokens(texts[field], true))
        count.set(term, (count.get(term) ?? 0) + 1)
      return [field, count]
    }),
  ) as Record<Field, Map<string, number>>
  return (term, kind) => {
    const of = (field: Field): number =>
      kind === 'title'
        ? Number(field === 'title' && keys.includes(term))
        : (counts[field].get(term) ?? 0)
    return {
      title: of('title'),
      text: of('text'),
      headings: of('headings'),
      url: of('url'),
      rest: of('rest'),
    }
  }
}
