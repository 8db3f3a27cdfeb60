/** What class and id names say about a block. Word lists only; what follows from them is decided elsewhere. */
import type { Block } from './blocks.ts'

/** One of these words, whole, between blanks, dashes or underscores. */
const anyWord = (list: string): RegExp =>
  new RegExp(`(^|[\\s_-])(${list.split(' ').join('|')})(?=[\\s_-]|$)`, 'i')

const unlikely = anyWord(
  'ad ads advert\\w* banner breadcrumbs? combx comments? commentlist community cookies? disqus extra foot footer gdpr consent header masthead legends menu nav navbar navheader navfooter navigation newsletter outbrain taboola pager pagination popup modal promo\\w* recirc\\w* recommend\\w* related\\w* remark replies respond rss share\\w* sharing shoutbox sidebar side skip social\\w* sponsor\\w* subscri\\w* signup supplemental tags? teasers? toolbar trending widget byline author credit copyright caption gallery most popular readmore more',
)
const notPrinted = /no-?print|print-hidden/i
const maybe = /article|body|column|content|main|mathjax|story|entry|post/i
const foot = anyWord(
  'footer comments? disqus cookies? consent gdpr nav navbar navheader navfooter navigation breadcrumbs? newsletter popup modal related sidebar copyright',
)
const strong = anyWord(
  'related recommend\\w* recirc\\w* newsletter\\w* comments? share sharing social promo\\w* outbrain taboola sponsor\\w* cookie\\w* sidebar breadcrumbs? pagination tags teasers? trending most-(?:read|popular) read-?more subscri\\w* sign-?up author-?(?:bio|box|info) byline dateline timestamp advert\\w* disclaimer copyright caption credit toolbar print signature sign sig postprofile userinfo authi',
)
/** Prose under these names is an admonition of a book, not a menu ... */
const soft = anyWord('extra header remark sidebar side supplemental menu foot')
/** ... unless one of these stands beside them. */
const hard =
  /comment|disqus|repl(y|ies)|respond|cookie|consent|gdpr|footer|nav|share|social|newsletter|subscri|signup|promo|outbrain|taboola|sponsor|popup|modal|related|recommend|recirc|copyright|byline|author|teaser|trending/i
const share = anyWord('share sharedaddy')
const note = /note|warn|tip|admon|callout|info|important|caution|example/i
const positive = /article|body|content|entry|hentry|main|page|post|text|blog|story/i
const negative =
  /-ad-|hidden|^hid$| hid$| hid |^hid |banner|combx|comment|com-|contact|footer|gdpr|masthead|media|meta|outbrain|promo|related|scroll|share|shoutbox|sidebar|skyscraper|sponsor|shopping|tags|widget/i

/** Boxes that are hardly ever content. */
export const isUnlikelyName = (names: string): boolean =>
  (unlikely.test(names) || notPrinted.test(names)) && !maybe.test(names)

/** Boxes that are no content however little is left without them. */
export const isFootName = (names: string): boolean => foot.test(names)

/** Boxes inside the content that are not part of it. */
export const isStrongName = (names: string): boolean => strong.test(names)

export const isShareName = (names: string): boolean => share.test(names)

/** An aside that is a note to the text around it. */
export const isNote = ({ names, sums }: Block, total: number): boolean =>
  sums.width > 60 &&
  sums.width < total * 0.5 &&
  sums.linkedWidth < sums.width * 0.1 &&
  note.test(names)

/** A box with the name of a menu that holds prose: it stays. */
export const isSoftProse = ({ names, sums }: Block): boolean =>
  sums.width > 100 &&
  soft.test(names) &&
  !hard.test(names) &&
  sums.linkedWidth < sums.width * 0.2 &&
  sums.width - sums.linkedWidth > 100 * sums.inputs

/** +25 for names of content, -25 for names of layout. */
export const nameWeight = ({ names }: Block): number =>
  names === '' ? 0 : (positive.test(names) ? 25 : 0) - (negative.test(names) ? 25 : 0)
