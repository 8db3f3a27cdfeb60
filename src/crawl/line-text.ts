/** Gathers the text of one line as places in the page, and writes it out once, blanks collapsed. Knows no block. */

/* Written to and read from within one call. */
let narrow = Buffer.alloc(8_192)
let wide = new Uint16Array(8_192)
const keptUnitsMax = 65_536

/** A class: V8 forgets the machine code of closures that are made anew for each page. */
export class LineText {
  readonly #html: string
  /** Start and end of each piece; -1 and a code point for a character. */
  #pieces: number[] = []
  #size = 0

  constructor(html: string) {
    this.#html = html
  }

  isEmpty(): boolean {
    return this.#size === 0
  }

  /** Units [start, end) of the page. */
  add(start: number, end: number): void {
    if (start < end) this.#push(start, end)
  }

  addCharacter(codePoint: number): void {
    this.#push(-1, codePoint)
  }

  /** As it stands in the page. */
  raw(): string {
    let text = ''
    for (let i = 0; i < this.#size; i += 2) {
      const [start, end] = [this.#pieces[i] as number, this.#pieces[i + 1] as number]
      text += start < 0 ? String.fromCodePoint(end) : this.#html.slice(start, end)
    }
    return text
  }

  /** `collapseBlanks` of `raw`. */
  collapsed(): string {
    const html = this.#html
    let start = this.#pieces[0] as number
    if (this.#size !== 2 || start < 0) return writeCollapsed(html, this.#pieces, this.#size)
    let end = this.#pieces[1] as number
    while (start < end && isBlank(html.charCodeAt(start))) start++
    while (start < end && isBlank(html.charCodeAt(end - 1))) end--
    return isCollapsed(html, start, end)
      ? html.slice(start, end)
      : writeCollapsed(html, this.#pieces, this.#size)
  }

  clear(): void {
    if (this.#size > 4_096) this.#pieces = []
    this.#size = 0
  }

  #push(start: number, end: number): void {
    this.#pieces[this.#size++] = start
    this.#pieces[this.#size++] = end
  }
}

/** What \s says of a unit. */
const isBlank = (unit: number): boolean =>
  unit === 0x20 ||
  (unit <= 0x0d && unit >= 0x09) ||
  (unit >= 0xa0 &&
    (unit === 0xa0 ||
      unit === 0x1680 ||
      (unit >= 0x2000 && unit <= 0x200a) ||
      unit === 0x2028 ||
      unit === 0x2029 ||
      unit === 0x202f ||
      unit === 0x205f ||
      unit === 0x3000 ||
      unit === 0xfeff))

/** Whether no blank stands between `start` and `end`, which are none, but single spaces. */
function isCollapsed(html: string, start: number, end: number): boolean {
  let wasBlank = false
  for (let i = start; i < end; i++) {
    const unit = html.charCodeAt(i)
    const blank = isBlank(unit)
    if (blank && (wasBlank || unit !== 0x20)) return false
    wasBlank = blank
  }
  return true
}

/** Units of Latin-1 are written as bytes, so that the string takes no more; the first other one moves all to 16 bits. */
function writeCollapsed(html: string, pieces: readonly number[], count: number): string {
  let size = 0
  let isWide = false
  let isPending = false
  for (let i = 0; i < count; i += 2) {
    const first = pieces[i] as number
    const last = pieces[i + 1] as number
    const source = first < 0 ? String.fromCodePoint(last) : html
    const [start, end] = first < 0 ? [0, source.length] : [first, last]
    for (let at = start; at < end; at++) {
      const unit = source.charCodeAt(at)
      if (isBlank(unit)) {
        isPending = size > 0
        continue
      }
      if (size + 2 > narrow.length) grow()
      if (!isWide && unit > 0xff) {
        isWide = true
        for (let k = 0; k < size; k++) wide[k] = narrow[k] as number
      }
      const into = isWide ? wide : narrow
      if (isPending) into[size++] = 0x20
      isPending = false
      into[size++] = unit
    }
  }
  const text = isWide
    ? Buffer.from(wide.buffer, 0, 2 * size).toString('utf16le')
    : narrow.toString('latin1', 0, size)
  if (narrow.length > keptUnitsMax) {
    narrow = Buffer.alloc(8_192)
    wide = new Uint16Array(8_192)
  }
  return text
}

function grow(): void {
  const [bytes, units] = [narrow, wide]
  narrow = Buffer.alloc(bytes.length * 2)
  wide = new Uint16Array(units.length * 2)
  narrow.set(bytes)
  wide.set(units)
}
