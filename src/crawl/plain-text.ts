/** Plain text as a page: all of it is content, its first line is its title. */
import type { Content } from './extract.ts'

const titleCharsMax = 200

/** Total. The title is the first line with words in it (marks of Markdown headings taken off) unless that is too long, else the file's name, else the URL. */
export function plainContent(text: string, url: string): Content {
  const whole = text.replace(/\r\n?/g, '\n').trim()
  const firstLine =
    /^.*[\p{L}\p{N}].*$/mu.exec(whole.slice(0, 10_000))?.[0].slice(0, 2 * titleCharsMax) ?? ''
  const heading = firstLine.replace(/^[\s#=*-]+|[\s#=*]+$/g, '')
  const title = heading === '' || heading.length > titleCharsMax ? fileName(url) : heading
  return {
    title,
    description: '',
    author: '',
    publishedAtMs: null,
    text: whole === '' ? title : whole,
    headings: '',
    rest: '',
    confidence: 1,
    doubtful: '',
    kind: 'all',
  }
}

function fileName(url: string): string {
  const name = /([^/?#]+)(?:[?#]|$)/.exec(url.replace(/^[a-z]+:\/\/[^/]*/i, ''))?.[1]
  if (name === undefined) return url
  try {
    return decodeURIComponent(name)
  } catch {
    return name // escapes of another charset: shown as they are
  }
}
