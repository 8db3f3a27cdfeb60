/** What a page's JSON-LD says about the article in it. Reads broken JSON too, as far as a few patterns go; trusts nothing. */

export type ArticleFacts = {
  /** The @type names of articles and the like, joined by blanks. */
  types: string
  headline: string
  author: string
  /** As written. */
  date: string
  body: string
}

const depthMax = 6
const authorsMax = 10
const articleTypes = /article|posting|report|recipe|webpage|howto|review/i

/** The first value of each fact over all scripts, in page order. Never throws. */
export function articleFacts(scripts: readonly string[]): ArticleFacts {
  const facts: ArticleFacts = { types: '', headline: '', author: '', date: '', body: '' }
  for (const script of scripts) {
    const value = parseJson(script)
    if (value !== undefined) readValue(value, facts, 0)
    else {
      const type = /"@type"\s*:\s*"(\w{0,40}(?:Article|Posting))"/.exec(script)?.[1]
      if (type !== undefined) facts.types += ` ${type}`
      facts.date ||= /"datePublished"\s*:\s*"([^"]{1,60})"/.exec(script)?.[1] ?? ''
    }
  }
  return facts
}

/** undefined where it is no JSON. Raw line breaks inside strings are the commonest mistake. */
function parseJson(script: string): unknown {
  try {
    return JSON.parse(script.replace(/\p{Cc}+/gu, ' '))
  } catch {
    return undefined
  }
}

function readValue(value: unknown, facts: ArticleFacts, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > depthMax) return
  const record = value as Readonly<Record<string, unknown>>
  const type = [record['@type']].flat().filter(isText).join(' ')
  if (articleTypes.test(type)) readArticle(record, type, facts)
  for (const part of Object.values(record)) readValue(part, facts, depth + 1)
}

function readArticle(
  article: Readonly<Record<string, unknown>>,
  type: string,
  facts: ArticleFacts,
): void {
  facts.types += ` ${type.slice(0, 200)}`
  const isWholePage = /webpage/i.test(type)
  if (!isWholePage && isText(article['headline'])) facts.headline ||= article['headline']
  if (isText(article['datePublished'])) facts.date ||= article['datePublished']
  if (isText(article['articleBody'])) facts.body ||= article['articleBody']
  facts.author ||= [article['author']]
    .flat()
    .slice(0, authorsMax)
    .map(nameOf)
    .filter((name) => name !== '')
    .join(', ')
}

function nameOf(author: unknown): string {
  if (isText(author)) return author
  if (typeof author !== 'object' || author === null || !('name' in author)) return ''
  return isText(author.name) ? author.name : ''
}

const isText = (value: unknown): value is string => typeof value === 'string'
