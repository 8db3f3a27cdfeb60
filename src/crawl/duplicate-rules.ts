/** When one page is a copy of another: pure comparison of two fingerprints. Grouping is duplicates.ts. */
import { numberSimilarity, textSimilarity } from '../text/fingerprint.ts'

/** What the rules look at. */
export type Comparable = { sketch: Uint8Array; tokens: number; figures: number; numbers: number }

/** Similarity of a copy to a centre or witness. Fitted: positives begin at .66, halves of a text reach .61. */
export const similaritySame = 0.63
/** A page that was in the group stays down to here, so that it does not flap. */
export const similarityKept = 0.6
/** What came in through a witness is at least this near to the centre: chains do not drift. */
export const similarityAround = 0.5
/** A member less like all witnesses than this is a witness itself. */
export const similarityWitness = 0.85
/** Below this many tokens only exact copies count: a copy and a filled form look alike. */
export const tokensTiny = 16

/** Below this many tokens a copy must be more alike and have the same numbers. */
const tokensShort = 64
const similarityShort = 0.75
/** Two pages with at least so many different numbers each must share this part of the fewer, else a form was filled in anew. */
const figuresMin = 6
const figuresShared = 0.6

/** How alike two pages are (0..1) if that makes them copies at `limit`, else 0. */
export function likeness(a: Comparable, b: Comparable, limit: number): number {
  const tokens = Math.min(a.tokens, b.tokens)
  if (tokens < tokensTiny) return 0
  const isShort = tokens < tokensShort
  if (isShort ? a.numbers !== b.numbers : isFormFilledAnew(a, b)) return 0
  const similarity = textSimilarity(a.sketch, b.sketch)
  return similarity >= (isShort ? Math.max(limit, similarityShort) : limit) ? similarity : 0
}

function isFormFilledAnew(a: Comparable, b: Comparable): boolean {
  const fewer = Math.min(a.figures, b.figures)
  if (fewer < figuresMin) return false
  const jaccard = numberSimilarity(a.sketch, b.sketch)
  const shared = (jaccard * (a.figures + b.figures)) / (1 + jaccard)
  return shared < figuresShared * fewer
}
