/** What each element is to the tree of a page: a block, dropped with all in it, or a fact about the page. */
import { tagNames } from './html-events.ts'

const words = (list: string): string[] => list.split(' ')
const blockTags = words(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul',
)
const droppedTags = words(
  'noscript template svg iframe object embed canvas annotation annotation-xml button select textarea datalist audio video map',
)
const factTags = words('meta base link a area frame iframe time')

/* What a tag is, by its id: bits. */
export const isBlockTag = 1
export const isDroppedTag = 2
export const isFactTag = 4
/** By the place of its name in `tagNames`. */
export const tagKinds = Uint8Array.from(
  tagNames,
  (name) =>
    (blockTags.includes(name) ? isBlockTag : 0) |
    (droppedTags.includes(name) ? isDroppedTag : 0) |
    (factTags.includes(name) ? isFactTag : 0),
)
