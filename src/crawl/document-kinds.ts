/** Pages that are no HTML: PDF, Markdown and plain text as content. Which it is, is said by label, bytes and name. */
import type { Content } from './extract.ts'
import { readMarkdown } from './markdown.ts'
import { plainContent } from './plain-text.ts'
import { isMarkdown } from './sniff.ts'

export type ReadDocument = { content: Content; links: readonly string[] }

/** A text that is no HTML. */
export function readText(
  text: string,
  url: string,
  contentType: string,
  linksMax: number,
): ReadDocument {
  const plain = plainContent(text, url)
  if (!isMarkdown(contentType, url)) return { content: plain, links: [] }
  const { links, title, text: read, ...facts } = readMarkdown(text, url, linksMax)
  const content = { ...plain, ...facts, title: title || plain.title, text: read || plain.text }
  return { content, links }
}

/** null for what cannot be read. A PDF without text (scans) has its title, else its name, for text. */
export async function readPdfDocument(
  bytes: Uint8Array,
  url: string,
): Promise<ReadDocument | null> {
  // Loaded for the first PDF: a crawl without them never pays for it.
  const { readPdf } = await import('./pdf.ts')
  const pdf = await readPdf(bytes)
  if (pdf === null) return null
  const plain = plainContent(pdf.text, url)
  const isName =
    pdf.title === '' || /^(untitled|microsoft word|.*\.(docx?|tex|dvi|ps|indd))/i.test(pdf.title)
  const content: Content = {
    ...plain,
    title: isName ? plain.title : pdf.title,
    author: pdf.author,
    publishedAtMs: pdf.createdAtMs,
  }
  return { content, links: [] }
}
