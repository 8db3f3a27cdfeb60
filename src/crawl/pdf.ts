/**
 * The text of a PDF (door to unpdf, which is pdf.js without its drawing). Loaded for the first PDF of a parser thread: it costs 30 MB and a fifth
 * of a second there. Runs in the parser thread only: its limits of time and memory are the last defence.
 */
import { getDocumentProxy } from 'unpdf'

export type PdfText = {
  title: string
  author: string
  createdAtMs: number | null
  /** A line of the page a line; pages parted by an empty one. */
  text: string
  pages: number
  /** Pages that were read: fewer where a limit was reached. */
  pagesRead: number
}

export type PdfLimits = { pagesMax: number; charsMax: number; timeMs: number }
export const pdfLimits: PdfLimits = { pagesMax: 500, charsMax: 2_000_000, timeMs: 3_000 }

/** null for what is no PDF, is broken beyond repair, or needs a password. */
export async function readPdf(
  bytes: Uint8Array,
  { pagesMax, charsMax, timeMs }: PdfLimits = pdfLimits,
): Promise<PdfText | null> {
  const untilMs = performance.now() + timeMs
  // The bytes are given away: pdf.js transfers them.
  const pdf = await open(new Uint8Array(bytes))
  if (pdf === null) return null
  try {
    const parts: string[] = []
    let [chars, pagesRead] = [0, 0]
    const pages = Math.min(pdf.numPages, pagesMax)
    while (pagesRead < pages && chars < charsMax && performance.now() < untilMs) {
      const text = await pageText(pdf, pagesRead + 1)
      pagesRead++
      parts.push(text)
      chars += text.length
    }
    const info = await infoOf(pdf)
    return {
      ...info,
      text: parts.join('\n\n').trim().slice(0, charsMax),
      pages: pdf.numPages,
      pagesRead,
    }
  } finally {
    await pdf.loadingTask.destroy()
  }
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

async function open(data: Uint8Array): Promise<Pdf | null> {
  try {
    return await getDocumentProxy(data, { verbosity: 0 })
  } catch (error) {
    const isOfTheFile = error instanceof Error && /PDF|Password/.test(error.name)
    if (!isOfTheFile) throw error
    return null
  }
}

/** A page that cannot be read is an empty one: the others count. */
async function pageText(pdf: Pdf, number: number): Promise<string> {
  try {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    page.cleanup()
    let text = ''
    for (const item of items) {
      if (!('str' in item)) continue
      text += item.str + (item.hasEOL ? '\n' : '')
    }
    return joinedLines(text)
  } catch {
    return '' // said by pagesRead only where all are so: nothing of it can be mended here
  }
}

/** A word that is cut at the end of a line is one word. */
const joinedLines = (text: string): string =>
  text
    .replace(/(\p{Ll})[-\u00ad]\n(?=\p{Ll})/gu, '$1')
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')

async function infoOf(pdf: Pdf): Promise<Pick<PdfText, 'title' | 'author' | 'createdAtMs'>> {
  const { info } = await pdf.getMetadata()
  const given = info as Readonly<Record<string, unknown>>
  const text = (name: string): string => {
    const value = given[name]
    return typeof value === 'string' ? value.trim().slice(0, 500) : ''
  }
  return { title: text('Title'), author: text('Author'), createdAtMs: dateOf(text('CreationDate')) }
}

/** D:20240503083000+08'00' (ISO 32000-1, 7.9.4). */
function dateOf(text: string): number | null {
  const found =
    /^(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?'?)?/.exec(text)
  if (found === null) return null
  const part = (at: number, standard: number): number => Number(found[at] ?? standard)
  const zoneMin = (part(8, 0) * 60 + part(9, 0)) * (found[7] === '-' ? -1 : 1)
  const ms = Date.UTC(part(1, 0), part(2, 1) - 1, part(3, 1), part(4, 0), part(5, 0), part(6, 0))
  return Number.isNaN(ms) ? null : ms - zoneMin * 60_000
}
