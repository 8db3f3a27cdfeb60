/** What the pages say in English, and the list of all that a language has to say. */
import type { JobState, Scope } from './control.ts'
import { english as upkeep, type UpkeepMessages } from './upkeep-messages.ts'

/** Numbers arrive written for the language already. */
export type Messages = {
  languageName: string
  /** Of a page whose language is not known. */
  noLanguage: string
  search: string
  searchLabel: string
  skip: string
  suggestions: string
  suggestionsFound: string
  theme: string
  themes: { system: string; light: string; dark: string }
  language: string
  administration: string
  holdings: (pages: string, sites: string) => string
  newest: string
  crawling: (queued: string) => string
  keysTitle: string
  keys: readonly (readonly [key: string, text: string])[]
  close: string
  resultsFor: (q: string) => string
  about: (total: string, isMore: boolean) => string
  took: (ms: string) => string
  sort: string
  relevance: string
  newestFirst: string
  preferNew: string
  time: string
  anyTime: string
  past: { P7D: string; P1M: string; P1Y: string }
  remove: string
  copies: (count: string) => string
  moreCopies: string
  copy: string
  showCopies: string
  foldCopies: string
  storedText: string
  moreFrom: string
  moreOfSite: (count: string) => string
  similar: string
  oneOfSite: string
  allOfSites: string
  narrow: string
  filtersInForce: string
  all: string
  facetNames: Record<'host' | 'lang' | 'type' | 'date' | 'keyword', string>
  /** A filter in force. */
  keyword: (word: string) => string
  keywords: string
  listing: string
  without: string
  missing: string
  previous: string
  next: string
  pages: string
  partly: string
  didYouMean: string
  nothing: (q: string) => string
  nothingHelp: string
  tryShorter: string
  dropWord: (word: string) => string
  dropFilter: (filter: string) => string
  dropFilters: string
  nothingFits: string
  enterWords: string
  note: string
  original: string
  fetched: string
  storedOf: string
  emptyText: string
  welcome: string
  welcomeText: string
  /** The page that says how results are ranked; {name} = a figure of the ranking. */
  ranking: {
    link: string
    title: string
    lead: string
    sections: readonly (readonly [heading: string, text: string])[]
    api: string
  }
  address: string
  addressHelp: string
  whatBelongs: string
  scopes: Readonly<Record<Scope, string>>
  key: string
  keyHelp: string
  maxPages: string
  maxPagesHelp: string
  start: string
  signIn: string
  signInText: string
  signOut: string
  newCrawl: string
  jobs: string
  noJobs: string
  job: (id: string) => string
  progress: string
  state: string
  states: Readonly<Record<JobState, string>>
  pause: string
  resume: string
  stop: string
  counts: {
    fetched: string
    stored: string
    unchanged: string
    exactCopies: string
    nearCopies: string
    redirects: string
    gone: string
    queued: string
    bytes: string
    speed: string
    time: string
    left: string
  }
  refused: string
  failed: string
  trySearch: string
  explain: string
  explainHelp: string
  explainButton: string
  filters: {
    title: string
    urls: string
    falsePositives: string
    metUrls: string
    metHosts: string
    metContents: string
    exact: string
    near: string
    groups: string
    words: string
    list: string
    pages: string
    noLists: string
    applying: string
    more: string
    pagesOf: (count: string) => string
    kinds: Record<'original' | 'near' | 'exact', string>
    reasons: Record<'canonical' | 'own-host' | 'earlier' | 'shorter' | 'more-links', string>
  }
  known: string
  unknown: string
  upkeep: UpkeepMessages
  errorTitle: string
  backHome: string
  requestId: string
  errors: Readonly<Record<string, string>>
}

export const english: Messages = {
  languageName: 'English',
  noLanguage: 'unknown',
  search: 'Search',
  searchLabel: 'Search words',
  skip: 'Skip to the content',
  suggestions: 'Suggestions',
  suggestionsFound: 'suggestions',
  theme: 'Colours',
  themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
  language: 'Language',
  administration: 'Administration',
  holdings: (pages, sites) =>
    `${pages} ${pages === '1' ? 'page' : 'pages'} from ${sites} ${sites === '1' ? 'site' : 'sites'}`,
  newest: 'newest',
  crawling: (queued) => `A crawl is under way, ${queued} addresses are waiting.`,
  keysTitle: 'Keys',
  keys: [
    ['/', 'go to the search box'],
    ['j', 'next result'],
    ['k', 'previous result'],
    ['c', 'stored text of the result'],
    ['?', 'this help'],
  ],
  close: 'Close',
  resultsFor: (q) => `Results for “${q}”`,
  about: (total, isMore) =>
    `${isMore ? 'More than ' : ''}${total} ${total === '1' ? 'page' : 'pages'}`,
  took: (ms) => `${ms} ms`,
  sort: 'Order',
  relevance: 'Relevance',
  newestFirst: 'Newest first',
  preferNew: 'Prefer new',
  time: 'Time',
  anyTime: 'Any time',
  past: { P7D: 'Past week', P1M: 'Past month', P1Y: 'Past year' },
  remove: 'Remove',
  copies: (count) => `${count} more with the same or nearly the same text`,
  moreCopies: 'Show all copies',
  copy: 'Copy',
  showCopies: 'Show copies',
  foldCopies: 'Fold copies',
  storedText: 'Stored text',
  moreFrom: 'More from this site',
  moreOfSite: (count) => `${count} more from this site`,
  similar: 'Similar',
  oneOfSite: 'One a site',
  allOfSites: 'All of each site',
  narrow: 'Narrow the search',
  filtersInForce: 'Filters',
  all: 'All',
  facetNames: { host: 'Site', lang: 'Language', type: 'Type', date: 'Date', keyword: 'Keyword' },
  keyword: (word) => `Keyword: ${word}`,
  keywords: 'Keywords:',
  listing: 'All pages that fit the filters',
  without: 'Without this site',
  missing: 'Not on this page:',
  previous: 'Previous',
  next: 'Next',
  pages: 'Pages of results',
  partly: 'No page holds all the words; these hold some of them.',
  didYouMean: 'Did you mean',
  nothing: (q) => `Nothing found for “${q}”`,
  nothingHelp: 'What may help:',
  tryShorter: 'Search for',
  dropWord: (word) => `Leave out “${word}”`,
  dropFilter: (filter) => `Search without ${filter}`,
  dropFilters: 'Search without the filters',
  nothingFits: 'No page fits the filters',
  enterWords: 'Type one or more words to search.',
  note: 'Note',
  original: 'Open the original page',
  fetched: 'Fetched',
  storedOf: 'This is the text as it was stored, without pictures and layout.',
  emptyText: 'This page has no text.',
  welcome: 'Your own search, from your own list of sites',
  welcomeText: 'Paste the address of a site. Its pages can be searched while they come in.',
  ranking: {
    link: 'How this ranks',
    title: 'How results are ranked',
    lead: 'Every page that holds words of your query gets a score, and the page with the highest score stands first. Nobody can buy a place, nothing is learnt from what you click, and the same question gives the same answer to everyone. No model is involved: each score is a sum that can be shown.',
    sections: [
      [
        'Which words count',
        'Capitals, accents, full-width forms, English endings and the two ways of writing Chinese make no difference. Small words such as "the", "how" or 的 count only when there is nothing else. Chinese is read as words and, with {bigramWeight} of their weight, as pairs of characters, so that no name is missed.',
      ],
      [
        'Which pages are shown',
        'A query of up to {autoWordsMax} words shows only pages that hold them all, when there is one. Otherwise pages that hold some of them come too, and each says which words it lacks.',
      ],
      [
        'What a word gives',
        'A rare word gives more than one that most pages hold. Further occurrences give less and less. Long pages need more of them than short ones. A word in the title counts {title} times as much as in the text, in a heading {headings} on top, in the address {url}, outside of the main content {rest}.',
      ],
      [
        'What links say',
        'The words of a link count for the page that it leads to. Where a page is linked from its own site, a word of such links counts as {ownLinksWeight} more occurrences in its text. Other sites count as {otherLinksWeight} for the first and again for each doubling of their number, together never more than {otherLinksMax}; one site counts once, however many pages and subdomains it has. Words such as "next" or "home", what a site calls more than a few of its pages, and links that a page marks as not its own (nofollow, ugc, sponsored) tell nothing.',
      ],
      [
        'The page itself',
        'Links from other sites add at most {linksPercent} % to a score, an address near the root of its site at most {depthPercent} %. Who chooses "Prefer new" lets the age of a page add up to {freshPercent} %, half of it after {freshDays} days. So this decides between pages that are alike, and never against words.',
      ],
      [
        'A second look',
        'The best {poolSize} pages are read again. They gain for words that stand there just as you typed them, for words of the query that stand near each other (at most {nearWindow} words apart), and for a title that is nearly the query.',
      ],
      [
        'Words that go with yours',
        'The {feedbackTerms} most telling words of the best {feedbackPages} pages count as a weak second query (with a weight of {feedbackWeight}) among these pages. So a page that speaks of the same matter in other words rises.',
      ],
      [
        'Copies',
        'Pages with the same or nearly the same content are one result; the others are named below it.',
      ],
    ],
    api: 'With explain=1 the API (/api/v1/search) adds every part of the score to each result; the parts add up to it.',
  },
  address: 'Address of a site',
  addressHelp: 'For instance example.org/docs/. Several are separated by spaces.',
  whatBelongs: 'What belongs to it',
  scopes: {
    path: 'This folder and everything below it',
    host: 'The whole site under this host name',
    domain: 'All host names of this domain',
    page: 'Only this one page',
    any: 'Everything it links to, on any site',
  },
  key: 'Key',
  keyHelp: 'It was printed where Findling was started.',
  maxPages: 'At most this many pages',
  maxPagesHelp: 'Empty means without a limit.',
  start: 'Start',
  signIn: 'Sign in',
  signInText: 'Crawls are started and stopped with the key of this server.',
  signOut: 'Sign out',
  newCrawl: 'Crawl a site',
  jobs: 'Crawls',
  noJobs: 'No crawl yet.',
  job: (id) => `Crawl ${id}`,
  progress: 'Progress',
  state: 'State',
  states: {
    running: 'Running',
    paused: 'Paused',
    waiting: 'Waiting',
    done: 'Finished',
    stopped: 'Stopped',
    limit: 'Limit reached',
    failed: 'Failed',
  },
  pause: 'Pause',
  resume: 'Go on',
  stop: 'Stop',
  counts: {
    fetched: 'Fetched',
    stored: 'Stored',
    unchanged: 'Unchanged',
    exactCopies: 'Exact copies',
    nearCopies: 'Near copies',
    redirects: 'Redirects',
    gone: 'Gone',
    queued: 'Waiting',
    bytes: 'Received',
    speed: 'Pages a second',
    time: 'Time',
    left: 'Left, about',
  },
  refused: 'Left out',
  failed: 'Failed',
  trySearch: 'What has come in can be searched now.',
  explain: 'Why is a page found, or not?',
  explainHelp: 'The address of the page',
  explainButton: 'Explain',
  filters: {
    title: 'What was recognised',
    urls: 'URLs seen',
    falsePositives: 'Share of new URLs asked twice',
    metUrls: 'URLs linked to (about)',
    metHosts: 'Sites linked to (about)',
    metContents: 'Different texts (about)',
    exact: 'Exact copies',
    near: 'Near copies',
    groups: 'Groups of copies',
    words: 'Words of lists',
    list: 'List',
    pages: 'Pages',
    noLists: 'There are no word lists (DATA/filters).',
    applying: 'Stored pages are being judged by the lists in force.',
    more: 'More groups',
    pagesOf: (count) => `${count} pages`,
    kinds: { original: 'original', near: 'near copy', exact: 'exact copy' },
    reasons: {
      canonical: 'names it as its canonical page',
      earlier: 'it was known earlier',
      shorter: 'its address is shorter',
      'own-host': 'it is on a site that was asked for',
      'more-links': 'more pages link to it',
    },
  },
  known: 'This address is known.',
  unknown: 'This address was never seen.',
  upkeep,
  errorTitle: 'That did not work',
  backHome: 'To the start page',
  requestId: 'Request',
  errors: {},
}
