/** The well-behaved part of the test web: pages in three scripts, their lists, exact and near copies. Pure: bytes by path. */
import { htmlPage } from './html.ts'
import type { Link } from './html.ts'
import { createRandom, markOf, pick, sentences, titleOf } from './words.ts'
import type { Random, Script } from './words.ts'

export type LibraryPage = {
  /** Percent-encoded, as it stands on the wire. */
  path: string
  script: Script
  title: string
  /** A word of this page and of its copies only; null on lists. */
  mark: string | null
  html: string
}
export type Library = {
  pages: readonly LibraryPage[]
  /** Groups of paths: the original first. */
  exactCopies: readonly (readonly string[])[]
  nearCopies: readonly (readonly string[])[]
}

const scripts: readonly { script: Script; folder: string; listTitle: string }[] = [
  { script: 'en', folder: '/en/', listTitle: 'English pages, part' },
  { script: 'zh-Hans', folder: '/hans/', listTitle: '简体中文页面 第' },
  { script: 'zh-Hant', folder: '/hant/', listTitle: '繁體中文頁面 第' },
]
const perList = 30
const exactEvery = 20
const nearEvery = 25
const paragraphCount = 5
const sentencesPerParagraph = 5

type Draft = {
  index: number
  path: string
  script: Script
  title: string
  mark: string
  paragraphs: string[]
  links: Link[]
}

/** @param count pages with text, at most 4000; lists and copies come on top. */
export function buildLibrary(seed: number, count: number): Library {
  const random = createRandom(seed)
  const drafts = Array.from({ length: count }, (_, index) => draftPage(random, index))
  const exact = drafts.filter(({ index }) => index % exactEvery === 7)
  const near = drafts.filter(({ index }) => index % nearEvery === 11)
  const mirrorPath = ({ index }: Draft): string => `/mirror/${index}.html`
  const nearPath = ({ index }: Draft): string => `/near/${index}.html`
  for (const draft of drafts) {
    draft.links = linksOf(random, drafts, draft)
    if (exact.includes(draft)) draft.links.push({ href: mirrorPath(draft), text: 'mirror' })
    if (near.includes(draft)) draft.links.push({ href: nearPath(draft), text: 'second edition' })
  }
  const render = (draft: Draft): LibraryPage => ({ ...draft, html: htmlPage(draft) })
  return {
    pages: [
      ...drafts.map(render),
      ...exact.map((draft) => ({ ...render(draft), path: mirrorPath(draft) })),
      ...near.map((draft) => render(secondEdition(random, draft, nearPath(draft), count))),
      ...scripts.flatMap((place) => listPages(random, place, drafts)),
    ],
    exactCopies: exact.map((draft) => [draft.path, mirrorPath(draft)]),
    nearCopies: near.map((draft) => [draft.path, nearPath(draft)]),
  }
}

function draftPage(random: Random, index: number): Draft {
  const place = scripts[index % scripts.length] ?? scripts[0]!
  const mark = markOf(place.script, index)
  const paragraphs = Array.from({ length: paragraphCount }, () =>
    sentences(random, place.script, sentencesPerParagraph).join(place.script === 'en' ? ' ' : ''),
  )
  paragraphs[2] = withMark(paragraphs[2] ?? '', place.script, mark)
  const title = `${titleOf(random, place.script)} ${index}`
  const path = `${place.folder}${encodeURIComponent(mark)}.html`
  return { index, path, script: place.script, title, mark, paragraphs, links: [] }
}

const withMark = (text: string, script: Script, mark: string): string =>
  `${text}${{ en: ` They call it ${mark} here.`, 'zh-Hans': `这里的人都叫它“${mark}”。`, 'zh-Hant': `這裡的人都叫它「${mark}」。` }[script]}`

/** Next, previous and three others, so that the web is one piece even without its lists. */
function linksOf(random: Random, drafts: readonly Draft[], draft: Draft): Link[] {
  const at = (offset: number): Draft | undefined =>
    drafts[(draft.index + offset + drafts.length) % drafts.length]
  const others = [at(1), at(-1), pick(random, drafts), pick(random, drafts), pick(random, drafts)]
  return others.flatMap((other) => (other ? [{ href: other.path, text: other.title }] : []))
}

/** The same page with one sentence more, which holds a mark of its own. */
function secondEdition(random: Random, draft: Draft, path: string, count: number): Draft {
  const mark = markOf(draft.script, count + draft.index)
  const added = withMark(sentences(random, draft.script, 1).join(''), draft.script, mark)
  const [first, ...rest] = draft.paragraphs
  return { ...draft, path, mark, paragraphs: [`${first} ${added}`, ...rest] }
}

function listPages(
  random: Random,
  place: (typeof scripts)[number],
  drafts: readonly Draft[],
): LibraryPage[] {
  const own = drafts.filter(({ script }) => script === place.script)
  const pathOf = (part: number): string =>
    part === 0 ? place.folder : `${place.folder}list-${part + 1}.html`
  return Array.from({ length: Math.max(1, Math.ceil(own.length / perList)) }, (_, part) => {
    const here = own.slice(part * perList, (part + 1) * perList)
    const links: Link[] = here.map(({ path, title }) => ({ href: path, text: title }))
    if ((part + 1) * perList < own.length) links.push({ href: pathOf(part + 1), text: '>>' })
    const title = `${place.listTitle} ${part + 1}`
    const paragraphs = [sentences(random, place.script, 4).join(' ')]
    const html = htmlPage({ script: place.script, title, paragraphs, links })
    return { path: pathOf(part), script: place.script, title, mark: null, html }
  })
}
