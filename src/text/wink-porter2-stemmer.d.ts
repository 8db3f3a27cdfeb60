/** The stemmer comes without types. */
declare module 'wink-porter2-stemmer' {
  /** `word` in lower case. */
  const stem: (word: string) => string
  export = stem
}
