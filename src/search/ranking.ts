/** Every constant of the ranking, in one table: what each does, and that each lies on a plateau of the development sets (docs/adr). Knows nothing else. */

/** Up to so many words a query is taken to mean all of them. */
export const autoWordsMax = 3

export const ranking = {
  /** Saturation: how soon more occurrences stop to count. Latin words, and terms of Han and scripts without blanks. */
  k1Latin: 1.2,
  k1Han: 0.7,
  /** How much of the length of a page is held against it. */
  lengthShare: 0.7,
  /** Han pairs beside Han words. */
  bigramWeight: 0.5,
  /** Of the term that stands for a whole title. */
  titleKeyWeight: 1,

  /** A word in the texts of links, in occurrences in the text: where the site of the page uses it, and for each doubling of other sites that do, up to a limit. */
  ownLinksWeight: 3,
  otherLinksWeight: 0.5,
  otherLinksMax: 1.5,
  /** At most these shares of a score are added for links of other sites, for an address near the root, and, where that is asked for, for a new page: half of it after so many days. */
  linksShare: 0.02,
  depthShare: 0.01,
  freshShare: 0.1,
  freshDays: 30,

  /** Pages read again. */
  poolSize: 30,
  /** Of an occurrence in the title, where a page is read again: as the index weighs it. */
  titleWeight: 5,
  /** Of Latin words that stand on the page as they were typed. */
  exactWeight: 0.1,
  /** Of neighbours in the query that are near each other on the page, and how many words that is at most. */
  nearWeight: 0.2,
  nearWindow: 8,
  /** How much of the query's weight a page gets whose title is the query and nothing else. */
  titledWeight: 0.5,
  /** Feedback: so much of a weak second query of so many words, learnt from so many pages, trusted by this power of their scores. */
  feedbackWeight: 0.15,
  feedbackPages: 5,
  feedbackTerms: 20,
  trustPower: 3,
  /** Words in more than this share of the pages, or in fewer than so many pages, tell nothing. */
  feedbackShareMax: 0.1,
  holdersMin: 2,
}
