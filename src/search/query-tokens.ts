/** The characters of a query as tokens: words, quoted phrases, operators, parentheses. Linear; knows no meaning of an operator. */

export type Token =
  | { kind: 'open' | 'close' | 'or' | 'and' | 'not' }
  /** `operator` '' = a plain word or phrase. */
  | { kind: 'term'; operator: string; value: string; isQuoted: boolean; isTitle?: boolean }

/** Opening quotation marks and what closes them; those of one line are alike, as keyboards mix them. */
const closers: Readonly<Record<string, string>> = {
  '"': '"“”„‟＂',
  '“': '"“”„‟＂',
  '”': '"“”„‟＂',
  '„': '"“”„‟＂',
  '‟': '"“”„‟＂',
  '＂': '"“”„‟＂',
  '「': '」｣',
  '｢': '」｣',
  '『': '』',
  '《': '》',
  '〈': '〉',
  '«': '»',
}
const quote = /["“”„‟＂「」｢｣『』《》〈〉«»]/
/** Around titles of works: in a question they are punctuation. */
const titleMark = /[《〈]/
const blank = /\s/
const latinWord = /[\p{Script=Latin}\p{N}_\])]/u
const operatorName = /([A-Za-zＡ-Ｚａ-ｚ]{2,12})[:：](?=[^\s/:：]|\/[^\s/])/y
/** A field's value may be quoted behind its comparison. */
const comparison = /[=＝<＜>＞:：≥≤]/
const minus = /[-－−]/

export function readTokens(text: string, isOperator: (name: string) => boolean): TokenReading {
  const reader = new Reader(text, isOperator)
  return reader.read()
}

export type TokenReading = { tokens: Token[]; warnings: string[] }

class Reader {
  readonly #text: string
  readonly #isOperator: (name: string) => boolean
  readonly #tokens: Token[] = []
  readonly #warnings = new Set<string>()
  /** In a text of capitals NOT is a word. */
  readonly #hasSmallLetters: boolean
  #at = 0
  #depth = 0

  constructor(text: string, isOperator: (name: string) => boolean) {
    this.#text = text
    this.#isOperator = isOperator
    this.#hasSmallLetters = /[\p{Ll}\p{Lo}]/u.test(text)
  }

  read(): TokenReading {
    while (this.#at < this.#text.length) this.#next()
    return { tokens: this.#tokens, warnings: [...this.#warnings] }
  }

  #next(): void {
    const char = this.#text.charAt(this.#at)
    if (blank.test(char)) this.#at += 1
    else if (isOpen(char)) this.#sign('open')
    else if (isClose(char)) this.#sign('close')
    else if (isBar(char)) this.#bars()
    else if (minus.test(char) && this.#isPrefix()) this.#sign('not')
    else if (quote.test(char)) this.#phrase('')
    else if (!this.#operator()) this.#word()
  }

  #sign(kind: 'open' | 'close' | 'not'): void {
    this.#at += 1
    if (kind === 'open') this.#depth += 1
    if (kind === 'close') {
      // A lone one is a smiley, or the end of a copied sentence.
      if (this.#depth === 0) return
      this.#depth -= 1
    }
    this.#tokens.push({ kind })
  }

  #bars(): void {
    while (isBar(this.#text.charAt(this.#at))) this.#at += 1
    this.#tokens.push({ kind: 'or' })
  }

  /** A minus excludes where something stands right behind it and nothing right before. */
  #isPrefix(): boolean {
    const before = this.#text.charAt(this.#at - 1)
    const after = this.#text.charAt(this.#at + 1)
    const isFree = before === '' || blank.test(before) || isOpen(before) || isBar(before)
    return isFree && after !== '' && !blank.test(after) && !minus.test(after)
  }

  #phrase(operator: string): void {
    const isTitle = titleMark.test(this.#text.charAt(this.#at))
    const value = this.#quoted()
    if (value === null) this.#warnings.add('A quotation mark has no partner; it was left out.')
    else if (value.trim() !== '') this.#term(operator, value, true, isTitle)
  }

  /** The text between the mark here and its partner; null, and the mark is passed over, where there is none. */
  #quoted(): string | null {
    const ends = closers[this.#text.charAt(this.#at)] ?? ''
    this.#at += 1
    if (ends === '') return null
    for (let end = this.#at; end < this.#text.length; end += 1) {
      if (!ends.includes(this.#text.charAt(end))) continue
      const value = this.#text.slice(this.#at, end)
      this.#at = end + 1
      return value
    }
    return null
  }

  #operator(): boolean {
    operatorName.lastIndex = this.#at
    const match = operatorName.exec(this.#text)
    if (match === null) return false
    const written = match[1] as string
    const name = written.normalize('NFKC').toLowerCase()
    const start = this.#at
    const isPath = this.#text.charAt(operatorName.lastIndex) === '/'
    if (isPath && !this.#isOperator(name)) return false
    this.#at = operatorName.lastIndex
    if (!this.#isOperator(name)) {
      const value = this.#plain()
      // A port or a time is no operator that somebody meant.
      if (/^\d/.test(value)) {
        this.#term('', this.#text.slice(start, this.#at), false)
        return true
      }
      this.#warnings.add(`${name}: is no operator here; it was searched as a word.`)
      this.#term('', `${written} ${value}`, false)
      return true
    }
    if (quote.test(this.#text.charAt(this.#at))) this.#phrase(name)
    else this.#valueOf(name)
    return true
  }

  #valueOf(name: string): void {
    let value = this.#plain()
    const isCompared = comparison.test(value.at(-1) ?? '')
    if (isCompared && quote.test(this.#text.charAt(this.#at))) value += this.#quoted() ?? ''
    if (value !== '') this.#term(name, value, false)
  }

  #word(): void {
    const value = this.#plain()
    const folded = value.normalize('NFKC')
    if (folded === 'OR') this.#tokens.push({ kind: 'or' })
    else if (folded === 'AND' || folded === '&&') this.#tokens.push({ kind: 'and' })
    else if (folded === 'NOT' && this.#hasSmallLetters) this.#tokens.push({ kind: 'not' })
    else this.#term('', value, false)
  }

  /** Up to a blank, a quotation mark, a bar or a parenthesis that is not its own: f(x) is one word. */
  #plain(): string {
    const start = this.#at
    let own = 0
    for (; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text.charAt(this.#at)
      if (blank.test(char) || quote.test(char) || isBar(char)) break
      if (isOpen(char)) {
        if (this.#at === start || !latinWord.test(this.#text.charAt(this.#at - 1))) break
        own += 1
      } else if (isClose(char)) {
        if (own === 0 && this.#depth > 0) break
        own -= 1
      }
    }
    // Whatever stands here, the reader moves on.
    if (this.#at === start) this.#at += 1
    return this.#text.slice(start, this.#at)
  }

  #term(operator: string, value: string, isQuoted: boolean, isTitle = false): void {
    this.#tokens.push({ kind: 'term', operator, value, isQuoted, ...(isTitle ? { isTitle } : {}) })
  }
}

const isOpen = (char: string): boolean => char === '(' || char === '（'
const isClose = (char: string): boolean => char === ')' || char === '）'
const isBar = (char: string): boolean => char === '|' || char === '｜'
