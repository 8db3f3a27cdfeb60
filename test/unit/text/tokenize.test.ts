/** The analyzer: which terms a text has, for the index, for a query and in place. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import stem from 'wink-porter2-stemmer'
import { createTermMemory } from '../../../src/text/term-memory.ts'
import { BIGRAM_PREFIX, createAnalyzer, termList } from '../../../src/text/tokenize.ts'
import { loadTestTables } from '../../text-tables.ts'

/** Far above what linear work takes on a busy machine, far below what quadratic work would. */
const CPU_US_MAX = 3_000_000

const analyzer = createAnalyzer(loadTestTables())
const page = (text: string, more = {}) =>
  analyzer.document({ title: '', headings: '', text, rest: '', url: '', ...more })
const list = (text: string) => termList(page(text).terms)
const words = (text: string) => list(text).filter((term) => !term.startsWith(BIGRAM_PREFIX))
const pairs = (text: string) =>
  list(text)
    .filter((term) => term.startsWith(BIGRAM_PREFIX))
    .map((term) => term.slice(1))
const codeOf = (terms: ReturnType<typeof page>, term: string) =>
  terms.quants[termList(terms.terms).indexOf(term)]

const wordCases: readonly (readonly [what: string, text: string, terms: readonly string[]])[] = [
  ['stems English', 'Running runs runner', ['run', 'runner']],
  ['drops accents before it stems', 'cafés', ['cafe']],
  ['drops the possessive', "the dog's owner’s", ['the', 'dog', 'owner']],
  ['keeps a negation whole', "don't", ['dont']],
  ['gives the noun behind an elided article', "l'homme", ['lhomm', 'homm']],
  ['keeps C++, C# and .NET, with their letters', 'C++ C# .NET', ['c++', 'c', 'c#', '.net', 'net']],
  ['takes no ++ or # that belongs to something else', 'a+++b x#y', ['a', 'b', 'x', 'y']],
  ['keeps names with dots whole and in parts', 'node.js', ['node.js', 'node', 'js']],
  ['keeps versions and decimals whole and in parts', '1.2.3', ['1.2.3', '1', '2', '3']],
  ['joins grouped numbers', '1,299 and 1,2', ['1299', 'and', '1', '2']],
  ['keeps long numbers whole', '4006123456789', ['4006123456789']],
  ['joins acronyms', 'U.S.A.', ['usa']],
  [
    'keeps mail addresses, their sides and parts',
    'me.too@example.com',
    ['me.too@example.com', 'me.too', 'example.com', 'me', 'too', 'exampl', 'com'],
  ],
  ['takes camelCase apart', 'getUserName', ['getusernam', 'get', 'user', 'name']],
  ['takes an acronym off a camel', 'XMLParser', ['xmlparser', 'xml', 'parser']],
  ['leaves iPhone and PhD whole', 'iPhone PhD', ['iphon', 'phd']],
  ['takes snake_case apart', 'max_body_bytes', ['max_body_bytes', 'max', 'bodi', 'byte']],
  [
    'splits at hyphens and slashes',
    'state-of-the-art and/or',
    ['state', 'of', 'the', 'art', 'and', 'or'],
  ],
  ['splits where the script changes', 'Linux内核v6', ['linux', '内核', 'v6']],
  ['keeps digits with any alphabet', 'h2o ГОСТ7', ['h2o', 'гост7']],
  ['cuts Chinese in words and their parts', '招商有限公司', ['招商', '有限', '公司', '有限公司']],
  ['reads traditional like simplified', '證券與臺灣', ['证券', '与', '台湾']],
  [
    'gives kana, Hangul and Thai in pairs',
    'コンロ 한국어 ไทย',
    ['コン', 'ンロ', '한국', '국어', 'ไท', 'ทย'],
  ],
  ['splits hiragana from katakana', 'パンの', ['パン', 'の']],
  ['finds no word in marks and emoji', '... --- 👨‍👩‍👧 ©', []],
  ['cuts a term at 64 characters', 'x'.repeat(70), ['x'.repeat(64)]],
]

describe('document', () => {
  for (const [what, text, terms] of wordCases) {
    it(what, () => assert.deepEqual(words(text), terms))
  }

  it('gives every character and every two neighbours of Chinese in the second space', () => {
    assert.deepEqual(pairs('段简单 水'), ['段', '简', '段简', '单', '简单', '水'])
  })

  it('makes no pairs across punctuation, and keeps ideographs of plane 2 whole', () => {
    assert.deepEqual(pairs('𠮷野,家').sort(), ['家', '野', '𠮷', '𠮷野'])
  })

  it('weighs title, text, headings, address and rest', () => {
    const terms = page('body', {
      title: 'title',
      headings: 'heading',
      rest: 'rest',
      url: 'https://host.example/some_path/%E6%B0%B4.html?q=1',
    })
    const codes = ['titl', 'bodi', 'head', 'path', '水', 'rest'].map((term) => codeOf(terms, term))
    assert.deepEqual(
      codes,
      [5, 1, 0.5, 0.3, 0.3, 0.2].map((tf) => Math.round(8 * Math.log2(1 + tf))),
    )
    assert(
      !termList(terms.terms).includes('html') &&
        !termList(terms.terms).includes('host') &&
        !termList(terms.terms).includes('q'),
    )
    assert(Math.abs(terms.length - (5 + 1 + 0.5 + 2 * 0.3 + 0.2)) < 1e-9) // "some" is a stop word
  })

  it('counts what comes back, up to code 63', () => {
    const terms = page('again '.repeat(7) + 'often '.repeat(5000))
    assert.equal(codeOf(terms, 'again'), 24)
    assert.equal(codeOf(terms, 'often'), 63)
  })

  it('indexes stop words but leaves them out of the length', () => {
    const terms = page('to be or not to be, 我们的水')
    assert(termList(terms.terms).includes('be') && termList(terms.terms).includes('我们'))
    assert.equal(terms.length, 1)
  })

  it('keeps 20,000 distinct terms, those of the title among them', () => {
    const many = Array.from({ length: 30_000 }, (_, i) => `w${i}`).join(' ')
    const terms = page(many, { title: 'headline', rest: '水'.repeat(50) })
    assert.equal(termList(terms.terms).length, 20_000)
    assert.equal(terms.quants.length, 20_000)
    assert.equal(new Set(termList(terms.terms)).size, 20_000)
    assert(termList(terms.terms).includes('headlin'))
  })

  it('gives distinct terms with a code each, the same for the same page whatever came before', () => {
    const piece = fc.constantFrom(
      'Run',
      'runs',
      'RUNNING',
      '臺灣',
      '台湾',
      "dog's",
      'a_b',
      'aB',
      'C++',
      'ab',
      'カナ',
      '水',
      '𠮷野',
      '野',
      '한',
      '1.2',
      '\u0301',
      ' ',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.boolean(), (parts, tight) => {
        const text = parts.join(tight ? '' : ' ')
        const terms = page(text)
        assert.equal(new Set(termList(terms.terms)).size, termList(terms.terms).length)
        assert(terms.quants.every((code) => code > 0 && code < 64))
        assert.deepEqual(
          createAnalyzer(loadTestTables()).document({
            title: '',
            headings: '',
            text,
            rest: '',
            url: '',
          }),
          terms,
        )
      }),
      { numRuns: 100 },
    )
  })

  it('stays itself when its memory turns over', () => {
    const small = page('stable words 稳定的词')
    for (let i = 0; i < 4; i += 1) {
      page(Array.from({ length: 9_000 }, (_, k) => `v${i}x${k}`).join(' '))
      assert.deepEqual(page('stable words 稳定的词'), small)
    }
  })

  const hostile: readonly (readonly [what: string, text: string])[] = [
    ['100,000 ideographs in a row', '水木火土金'.repeat(20_000)],
    ['a word of 100,000 letters', 'aB'.repeat(50_000)],
    ['100,000 combining marks', `e${'\u0301'.repeat(100_000)}`],
    ['a name of 50,000 dots', 'a.'.repeat(50_000)],
    ['50,000 apostrophes', "x'".repeat(50_000)],
    ['100,000 unpaired surrogates', '\ud800'.repeat(100_000)],
    ['100,000 halves of plane 2', '\ud842'.repeat(100_000)],
    ['numbers joined by commas', '1,'.repeat(50_000)],
    ['100,000 plus signs', `c${'+'.repeat(100_000)}`],
  ]
  for (const [what, text] of hostile) {
    it(`takes ${what} without trouble`, () => {
      const before = process.cpuUsage().user
      assert(list(text).every((term) => term.length <= 65 && term.isWellFormed()))
      assert(process.cpuUsage().user - before < CPU_US_MAX)
    })
  }
})

describe('query', () => {
  it('judges by the word as typed what a stop word is, whatever was read before', () => {
    for (const first of ['other', 'others']) {
      const fresh = createAnalyzer(loadTestTables())
      fresh.query(first)
      const query = fresh.query('others cars')
      assert.deepEqual(
        query.words.map(({ form }) => form),
        ['others', 'cars'],
      )
      const { length } = fresh.document({
        title: '',
        headings: '',
        text: 'the others or the other car',
        rest: '',
        url: '',
      })
      assert.equal(length, 2)
    }
  })

  it('drops stop words, unless nothing else is there', () => {
    assert.deepEqual(
      analyzer.query('what is the frontier').words.map(({ term }) => term),
      ['frontier'],
    )
    assert.deepEqual(
      analyzer.query('to be or not').words.map(({ term, isStop }) => [term, isStop]),
      [
        ['to', true],
        ['be', true],
        ['or', true],
        ['not', true],
      ],
    )
    assert.deepEqual(analyzer.query('').words, [])
  })

  it('stems what Porter2 would change, and nothing else', () => {
    const memory = createTermMemory(stem)
    const letters = fc.stringMatching(/^[a-z]{0,9}$/)
    const endings =
      'ational tional alize icate iciti ative ical ness ful ization fulness ousness biliti lessli entli ousli iviti fulli enci anci abli izer ator alli bli ogi li ement ance ence able ible ment ant ent ism ate iti ous ive ize sion tion al er ic ed edly ing ingly eed eedly s es ies us y e ll'
    const ending = fc.constantFrom('', ...endings.split(' '))
    fc.assert(
      fc.property(letters, ending, (beginning, end) => {
        const word = `${beginning}${end}`
        if (word === '') return
        // Under Bun the stemmer takes a last u away: not of words that it is not asked about.
        if ('bun' in process.versions && word.endsWith('u')) return
        const { whole } = memory.word(word, 0, word.length)
        assert.equal(whole?.term.text, stem(word))
        memory.trim()
      }),
      { numRuns: 5_000 },
    )
  })

  it('keeps order and repeats, with the form beside the stem', () => {
    const query = analyzer.query('Cats chase cats')
    assert.deepEqual(
      query.words.map(({ term, form }) => [term, form]),
      [
        ['cat', 'cats'],
        ['chase', 'chase'],
        ['cat', 'cats'],
      ],
    )
    assert.deepEqual(query.bigrams, [])
  })

  it('asks for the whole of a compound and names its parts', () => {
    const [word] = analyzer.query('getUserName').words
    assert.equal(word?.term, 'getusernam')
    assert.deepEqual(word?.parts, ['get', 'user', 'name'])
  })

  it('tells parts of a long Chinese word from words of their own', () => {
    assert.deepEqual(
      analyzer.query('招商有限公司').words.map(({ term, isPart }) => [term, isPart]),
      [
        ['招商', false],
        ['有限', true],
        ['公司', true],
        ['有限公司', false],
      ],
    )
  })

  it('gives the pairs of a run, the single character where it is alone', () => {
    assert.deepEqual(analyzer.query('段简单 水').bigrams, [' 段简', ' 简单', ' 水'])
    assert.deepEqual(analyzer.query('한').bigrams, [' 한'])
  })

  it('finds what a page holds: every substring of Chinese has its pairs in the index', () => {
    const text = '新幹線の乗り方と招商证券股份有限公司'
    const terms = new Set(list(text))
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.integer({ min: 1, max: 6 }), (start, size) => {
        const { words: asked, bigrams } = analyzer.query(text.slice(start, start + size))
        assert(asked.length > 0)
        for (const bigram of bigrams) assert(terms.has(bigram), bigram)
      }),
    )
  })
})

describe('tokens', () => {
  const spots = (text: string) =>
    analyzer.tokens(text).map(({ term, start, end }) => `${term}=${text.slice(start, end)}`)

  it('gives units of the text as it was given', () => {
    assert.deepEqual(spots('ﬁnding Cafe\u0301s'), ['find=ﬁnding', 'cafe=Cafe\u0301s'])
    assert.deepEqual(spots('證券Ａ臺灣'), ['证券=證券', 'a=Ａ', '台湾=臺灣'])
  })

  it('gives a compound, then its parts inside it', () => {
    assert.deepEqual(spots("a node.js user's"), [
      'a=a',
      'node.js=node.js',
      'node=node',
      'js=js',
      'user=user',
    ])
    assert.deepEqual(spots('parseXMLFile'), [
      'parsexmlfil=parseXMLFile',
      'pars=parse',
      'xml=XML',
      'file=File',
    ])
  })

  it('has the terms of the document, no others', () => {
    const text = "Running C++ 测试工具箱 コンロ me@here.org o'clock 한국 1,299"
    const placed = new Set(analyzer.tokens(text, true).map(({ term }) => term))
    assert.deepEqual([...placed].sort(), [...list(text)].sort())
  })

  it('stays inside the text for any input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        for (const { start, end } of analyzer.tokens(text, true))
          assert(0 <= start && start < end && end <= text.length)
      }),
    )
  })
})

describe('places', () => {
  it('finds Chinese across the borders of words and Latin by stem', () => {
    const text = '一段简单的测试 running'
    const found = analyzer.places(text, new Set([' 段简', 'run', '单的']))
    assert.deepEqual(
      found.map(({ start, end }) => text.slice(start, end)),
      ['段简', '单的', 'running'],
    )
  })

  it('finds every word where `tokens` does, whatever it is made of and its stem looks like', () => {
    const seen = [
      'dying lies tying skies skis news ugly only early api apis happy happily organisation possibly',
      "node.js .NET C++ U.S.A. 1,000 1,000.50 15.16 3.4.2 don't rock'n'roll o'clock a_b x_y_z me@here.org",
      'getUserName HTTPServer iPhone sha256 256bit \u00c9t\u00e9 caf\u00e9s na\u00efve \u041c\u043e\u0441\u043a\u0432\u0430 \u039f\u03b4\u03cc\u03c2 stra\u00dfe',
    ].flatMap((line) => line.split(' '))
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...seen), { minLength: 1, maxLength: 12 }), (picked) => {
        const text = picked.join(' ')
        const tokens = analyzer.tokens(text)
        for (const term of new Set(tokens.map((token) => token.term)))
          assert.deepEqual(
            new Set(
              analyzer.places(text, new Set([term])).map(({ start, end }) => `${start}-${end}`),
            ),
            new Set(
              tokens
                .filter((token) => token.term === term)
                .map(({ start, end }) => `${start}-${end}`),
            ),
            `${term} in ${text}`,
          )
      }),
      { numRuns: 200 },
    )
  })

  it('finds nothing for no terms', () => assert.deepEqual(analyzer.places('text', new Set()), []))
})

const gate = join(import.meta.dirname, '../../../../shared/zh-gate/cases.dev.jsonl')
describe(
  'the Chinese search gate',
  { skip: !existsSync(gate) && process.env.CI !== 'true' && 'no ../shared/zh-gate' },
  () => {
    type Issue = {
      id: string
      docs: { id: number; t: string }[]
      cases: { q: string; must?: number[]; highlight?: string }[]
    }
    const issues = existsSync(gate)
      ? readFileSync(gate, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Issue)
      : []
    it('has cases', () => assert(issues.length > 0))
    for (const { id, docs, cases } of issues) {
      it(`${id}: each page that must be found shares a word, or all pairs, with the query`, () => {
        for (const { q, must = [] } of cases) {
          const { words: asked, bigrams } = analyzer.query(q.replaceAll(/-\S+|"/g, ' '))
          for (const { t } of docs.filter((doc) => must.includes(doc.id))) {
            const terms = new Set(list(t))
            const byWords = asked.some(({ term }) => terms.has(term))
            assert(
              byWords || (bigrams.length > 0 && bigrams.every((term) => terms.has(term))),
              `${q} in ${t}`,
            )
          }
        }
      })
    }
  },
)
