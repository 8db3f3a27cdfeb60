/** Which elements of a page open and close (door to htmlparser2 and entities): its tokenizer, with the rules of its own Parser, but without a string for each name, attribute and piece of text. Knows no rule of content. */
import { DecodingMode, EntityDecoder, htmlDecodeTree } from 'entities/decode'
import { type Handler, Parser, Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { createNameTable, type NameTable } from './name-table.ts'

/** What hears the page, in its order. Units [start, end) are those of the page. */
export type HtmlHandler = {
  /** `id` is the place of `name` in `tagNames`, or their number where it is not among them. */
  open(name: string, id: number): void
  /** The element that was opened last and is open. Comes for void elements too. */
  close(): void
  text(start: number, end: number): void
  /** A character reference in text. */
  character(codePoint: number): void
  /** Whether the attribute of the element that was opened last is worth reading. Only asked for `attributeNames`. */
  wants(attribute: string): boolean
  attribute(name: string, value: string): void
}

const words = (list: string): string[] => list.split(' ')

const voidTags = words(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr',
)
/** Inside svg and math these hold HTML again. Within svg `foreignobject` is read as foreignObject. */
const integrationTags = words('mi mo mn ms mtext annotation-xml foreignObject desc title')
const formTags = 'input option optgroup select button datalist textarea'
/** What an opening element closes, where that is open on top. */
const impliedEnds: Readonly<Record<string, string>> = {
  tr: 'tr th td',
  th: 'th',
  td: 'thead th td',
  body: 'head link script',
  a: 'a',
  li: 'li',
  option: 'option',
  optgroup: 'optgroup option',
  dd: 'dd dt',
  dt: 'dd dt',
  rt: 'rt rp',
  rp: 'rt rp',
  tbody: 'thead tbody',
  tfoot: 'thead tbody',
  ...Object.fromEntries(
    words('select input output button datalist textarea').map((name) => [name, formTags]),
  ),
  ...Object.fromEntries(words('h1 h2 h3 h4 h5 h6 p').map((name) => [name, 'h1 h2 h3 h4 h5 h6 p'])),
  ...Object.fromEntries(
    words(
      'address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol pre section table ul',
    ).map((name) => [name, 'p']),
  ),
  p: 'p',
}
/** What stands in these is text as it is written. */
const rawTags = words('script style iframe noembed noframes plaintext xmp')
const otherTags = words(
  'html head style script noscript template svg math iframe object canvas audio video map caption center dialog summary annotation label span b i u s em strong small big font tt code kbd samp var sub sup abbr acronym cite dfn q del ins strike mark time image nobr bdi bdo foreignobject',
)

/** The names that come by number. 0 = none. */
export const tagNames: readonly string[] = [
  '',
  ...new Set([
    ...voidTags,
    ...integrationTags,
    ...Object.keys(impliedEnds),
    ...Object.values(impliedEnds).flatMap(words),
    ...otherTags,
    ...rawTags,
  ]),
]
const idOf = (name: string): number => tagNames.indexOf(name)
const [form, p, br, image, img, svg, math] = words('form p br image img svg math').map(idOf)
const [plainForeignObject, foreignObject] = words('foreignobject foreignObject').map(idOf) as [
  number,
  number,
]
const none = 0
const stranger = tagNames.length

/** By id; a stranger is of no kind. */
const isVoid = Uint8Array.from(tagNames, (name) => Number(voidTags.includes(name)))
const isRaw = Uint8Array.from(tagNames, (name) => Number(rawTags.includes(name)))
const isContext = Uint8Array.from(tagNames, (name) =>
  Number(name === 'svg' || name === 'math' || integrationTags.includes(name)),
)
const endsOf: readonly (ReadonlySet<number> | null)[] = tagNames.map((name) => {
  const ends = Object.hasOwn(impliedEnds, name) ? impliedEnds[name] : undefined
  return ends === undefined ? null : new Set(words(ends).map(idOf))
})
const tagTable = createNameTable(tagNames.map((name) => (name === 'foreignObject' ? '' : name)))

const htmlContext = 0
const svgContext = 1
const mathContext = 2

/* What the decoder found last: filled and read within one call, as pages are read one at a time. */
const codePoints: number[] = []
let unitsRead = 0
const decoder = new EntityDecoder(htmlDecodeTree, (codePoint, units) => {
  codePoints.push(codePoint)
  unitsRead = units
})

/** Into `codePoints`: the character reference that begins with the '&' at `at`. @returns its units, 0 where it is none */
function readReference(html: string, at: number, mode: DecodingMode): number {
  codePoints.length = unitsRead = 0
  decoder.startEntity(mode)
  if (decoder.write(html, at + 1) < 0) decoder.end()
  return unitsRead
}

/**
 * Reads a page. Total; linear but for `depthMax`: so many elements are held open, the outermost are let go without an end.
 * Elements open and close as those of htmlparser2's Parser do, but that names within svg are told apart in lower case.
 * @param attributes those that `handler` may want
 */
export function readHtml(
  html: string,
  handler: HtmlHandler,
  attributes: NameTable,
  depthMax: number,
): void {
  // With references of its own it goes through texts and values unit by unit: half as long again for 17 of them a page.
  const stack = new ElementStack(html, handler, attributes, depthMax)
  const tokenizer = new Tokenizer({ decodeEntities: false }, stack)
  tokenizer.write(html)
  tokenizer.end()
}

class ElementStack implements TokenizerCallbacks {
  readonly #html: string
  readonly #handler: HtmlHandler
  readonly #attributes: NameTable
  readonly #depthMax: number
  /** Open elements by id, the innermost last. */
  readonly #open: number[] = []
  /** Their names where they are strangers, else ''. */
  readonly #names: string[] = []
  readonly #contexts: number[] = [htmlContext]
  /** The element whose tag is being read. */
  #current = none
  #attribute = ''
  /** Units of its value. */
  #from = 0
  #to = 0
  /** Whether text is read as it is written. */
  #isRaw = false
  /** The first '&' at or after the place that was asked for last; the length where there is none. */
  #ampersand = -1

  constructor(html: string, handler: HtmlHandler, attributes: NameTable, depthMax: number) {
    this.#html = html
    this.#handler = handler
    this.#attributes = attributes
    this.#depthMax = depthMax
  }

  isInForeignContext(): boolean {
    return this.#context() !== htmlContext
  }

  #context(): number | undefined {
    return this.#contexts[this.#contexts.length - 1]
  }

  #idAt(start: number, end: number): number {
    const found = tagTable.find(this.#html, start, end)
    if (found < 0) return stranger
    if (found === plainForeignObject) {
      const isSvg = this.#context() === svgContext
      return isSvg || this.#open.includes(foreignObject) ? foreignObject : found
    }
    return found === image && !this.isInForeignContext() ? (img as number) : found
  }

  /** A place in the stack of the innermost such element; -1 where none is open. */
  #placeOf(id: number, start: number, end: number): number {
    if (id !== stranger) return this.#open.lastIndexOf(id)
    const open = this.#open.lastIndexOf(stranger)
    return open < 0 ? -1 : this.#names.lastIndexOf(this.#nameAt(start, end))
  }

  #nameAt(start: number, end: number): string {
    return this.#html.slice(start, end).toLowerCase()
  }

  onopentagname(start: number, end: number): void {
    const id = this.#idAt(start, end)
    this.#isRaw = isRaw[id] === 1 && !this.isInForeignContext()
    this.#openElement(id, tagNames[id] ?? this.#nameAt(start, end))
  }

  #openElement(id: number, name: string): void {
    this.#current = id
    const open = this.#open
    // A form within a form is none, and its end tag ends the outer one.
    if (id === form && open.includes(id)) {
      this.#current = none
      return
    }
    const ends = endsOf[id]
    if (ends) while (open.length > 0 && ends.has(open[open.length - 1] as number)) this.#close()
    if (isVoid[id] !== 1) {
      open.push(id)
      this.#names.push(id === stranger ? name : '')
      if (open.length > this.#depthMax) {
        open.shift()
        this.#names.shift()
      }
      if (id === svg) this.#contexts.push(svgContext)
      else if (id === math) this.#contexts.push(mathContext)
      else if (isContext[id] === 1) this.#contexts.push(htmlContext)
    }
    this.#handler.open(name, id)
  }

  #close(): void {
    const id = this.#open.pop() as number
    this.#names.pop()
    if (isContext[id] === 1) this.#contexts.pop()
    this.#handler.close()
  }

  onopentagend(): void {
    if (isVoid[this.#current] === 1) this.#handler.close()
    this.#current = none
  }

  onselfclosingtag(): void {
    const id = this.#current
    const isEnd = this.isInForeignContext() // elsewhere the slash means nothing
    this.onopentagend()
    if (isEnd && id !== none && this.#open.at(-1) === id) this.#close()
  }

  onclosetag(start: number, end: number): void {
    this.#isRaw = false
    const id = this.#idAt(start, end)
    if (isVoid[id] === 1) {
      if (id !== br) return
      this.#handler.open('br', id)
      this.#handler.close()
      return
    }
    const at = this.#placeOf(id, start, end)
    if (at >= 0) while (this.#open.length > at) this.#close()
    else if (id === p) {
      this.#openElement(id, 'p')
      this.#current = none
      this.#close()
    }
  }

  onattribname(start: number, end: number): void {
    const at = this.#attributes.find(this.#html, start, end)
    const name = at < 0 ? '' : (this.#attributes.names[at] as string)
    this.#attribute = name !== '' && this.#handler.wants(name) ? name : ''
  }

  onattribdata(start: number, end: number): void {
    this.#from = start
    this.#to = end
  }

  onattribend(): void {
    const [from, to] = [this.#from, this.#to]
    this.#from = this.#to = 0
    if (this.#attribute !== '') this.#handler.attribute(this.#attribute, this.#value(from, to))
  }

  #value(start: number, end: number): string {
    let value = ''
    let from = start
    for (let at = this.#ampersandFrom(start); at < end; at = this.#ampersandFrom(at + 1)) {
      const units = readReference(this.#html, at, DecodingMode.Attribute)
      if (units === 0) continue
      value += this.#html.slice(from, at)
      for (const codePoint of codePoints) value += String.fromCodePoint(codePoint)
      from = at + units
    }
    const rest = this.#html.slice(from, end)
    return value === '' ? rest : value + rest
  }

  ontext(start: number, end: number): void {
    let from = start
    if (!this.#isRaw)
      for (let at = this.#ampersandFrom(start); at < end; at = this.#ampersandFrom(at + 1)) {
        const units = readReference(this.#html, at, DecodingMode.Legacy)
        if (units === 0) continue
        if (from < at) this.#handler.text(from, at)
        for (const codePoint of codePoints) this.#handler.character(codePoint)
        from = at + units
      }
    if (from < end) this.#handler.text(from, end)
  }

  /** Asked for places in their order. */
  #ampersandFrom(place: number): number {
    if (this.#ampersand < place) {
      const found = this.#html.indexOf('&', place)
      this.#ampersand = found < 0 ? this.#html.length : found
    }
    return this.#ampersand
  }

  oncdata(start: number, end: number, endOffset: number): void {
    if (this.isInForeignContext()) this.#handler.text(start, end - endOffset)
  }

  onend(): void {
    while (this.#open.length > 0) this.#close()
  }

  // Neither is heard: references are read here.
  onattribentity(): void {}
  ontextentity(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
}

/** What is heard of an XML file; `isImplied`: the end tag is missing. */
export type XmlHandler = Required<Pick<Handler, 'onopentag' | 'ontext' | 'onclosetag'>>

/** XML in chunks, for lists of URLs: entities of the DTD stay as they are, nothing is fetched. The handler keeps the limits. */
export function readXml(handler: XmlHandler): { write(text: string): void; end(): void } {
  const parser = new Parser(handler, { xmlMode: true, decodeEntities: true })
  return { write: (text) => parser.write(text), end: () => parser.end() }
}
