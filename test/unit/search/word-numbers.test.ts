/** Numbers of forms and terms, and slots for a few of them, against maps of strings. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { TermSlots } from '../../../src/search/term-slots.ts'
import { numbersMax, WordNumbers } from '../../../src/search/word-numbers.ts'
import { isStopWord } from '../../../src/text/stopwords.ts'
import { testAnalyzer } from './collection.ts'

const analyzer = testAnalyzer()
const newNumbers = (): WordNumbers => new WordNumbers((form) => analyzer.termOf(form))

const words = [
  'connect connects connected connecting connection Connections connect2 dying die Lying lies tie tying',
  'table tables TABLE table_name getTable node.js nodes Node the The and a 2026 20 1,000 U.S.A. usa .NET net',
  "don't dont naïve naive \u6587\u4ef6 \u7cfb\u7edf\u6587\u4ef6 \u7684 \u306b\u307b\u3093 skies sky news new generous general",
]
  .join(' ')
  .split(' ')
const texts = fc.array(fc.constantFrom(...words), { maxLength: 30 }).map((all) => all.join(' '))

/** Terms with their forms as the analyzer tells them, without stop words. */
function termsOf(text: string): { term: string; form: string }[] {
  const terms: { term: string; form: string }[] = []
  analyzer.eachTerm(text, { term: (term, form) => void terms.push({ term, form }) })
  return terms.filter(({ form }) => !isStopWord(form))
}

function read(numbers: WordNumbers, text: string): number[] {
  analyzer.eachTerm(text, numbers.user)
  return [...numbers.take()]
}

describe('numbers of words', () => {
  it('are one for each form, and one for each term, in the order of the text', () => {
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 4 }), (all) => {
        const numbers = newNumbers()
        const forms = new Map<number, string>()
        for (const text of all) {
          const expected = termsOf(text)
          const found = read(numbers, text)
          assert.equal(found.length, expected.length)
          expected.forEach(({ term, form }, i) => {
            const number = found[i] as number
            assert.ok(number > 0)
            assert.equal(forms.get(number) ?? form, form)
            forms.set(number, form)
            assert.equal(numbers.form(form), number)
            assert.equal(numbers.textOfTerm(numbers.termOfForm(number)), term)
            assert.equal(numbers.term(term), numbers.termOfForm(number))
          })
        }
        assert.equal(new Set(forms.values()).size, forms.size)
      }),
    )
  })

  it('are none for stop words and for what nobody has told of', () => {
    const numbers = newNumbers()
    assert.deepEqual(read(numbers, 'the \u7684 And'), [])
    for (const form of ['the', '\u7684', 'table']) assert.equal(numbers.form(form), 0)
  })

  it('are given out anew when all are forgotten', () => {
    const numbers = newNumbers()
    const before = read(numbers, 'tables of connections \u6587\u4ef6')
    numbers.clear()
    assert.equal(numbers.form('tables'), 0)
    assert.deepEqual(read(numbers, 'tables of connections \u6587\u4ef6'), before)
  })

  it('come to an end: further words have none', () => {
    const numbers = newNumbers()
    const many = Array.from(
      { length: numbersMax },
      (_, i) =>
        `w${i.toString(26).replaceAll(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] as string)}`,
    )
    const found = read(numbers, many.join(' '))
    assert.ok(found.length < numbersMax && found.length > numbersMax - 1_000)
    assert.deepEqual(read(numbers, 'unheard \u6587\u4ef6'), [])
    assert.equal(read(numbers, many[0] as string)[0], found[0])
  })
})

describe('slots of terms', () => {
  it('are found by every form that has the term, and by no other', () => {
    fc.assert(
      fc.property(texts, texts, (wanted, text) => {
        const numbers = newNumbers()
        const slots = new TermSlots(numbers)
        const terms = termsOf(wanted).map(({ term }) => term)
        const found = read(numbers, text)
        slots.take(terms)
        const distinct = [...new Set(terms)]
        assert.equal(slots.size, distinct.length + 1)
        termsOf(text).forEach(({ term }, i) =>
          assert.equal(slots.ofForm(found[i] as number), distinct.indexOf(term) + 1, term),
        )
        for (const term of terms) assert.equal(slots.of(term), distinct.indexOf(term) + 1)
        assert.equal(slots.ofForm(0), 0)
      }),
    )
  })
})
