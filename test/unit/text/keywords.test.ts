/** Keywords, and that the two stemmers of the wink family agree. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import model from 'wink-eng-lite-web-model'
import winkNLP, { type ItsFunction } from 'wink-nlp'
import { createKeywords } from '../../../src/text/keywords.ts'
import { createAnalyzer } from '../../../src/text/tokenize.ts'
import { loadTestTables } from '../../text-tables.ts'

/** Far above what linear work takes on a busy machine, far below what quadratic work would. */
const CPU_US_MAX = 3_000_000

const dictionary = loadTestTables()
const analyzer = createAnalyzer(dictionary)
const maker = createKeywords(dictionary, analyzer)
const weighted: typeof maker.keywords = (...page) => maker.keywords(...page)
const keywords = async (...page: Parameters<typeof weighted>): Promise<string[]> =>
  (await weighted(...page)).map(({ word }) => word)

describe('keywords', () => {
  it('gives nouns of English as lemmas, phrases that come back first', async () => {
    const text =
      'The search engine reads pages. A search engine that is small runs on small machines. ' +
      'Its crawlers fetch pages politely, and the crawlers wait.'
    const found = await keywords(text, 'A small search engine', 'en', 4)
    assert.equal(found[0], 'search engine')
    assert(found.includes('page') && found.includes('crawler'), found.join())
    assert(!found.includes('engine') && !found.includes('politely') && !found.includes('small'))
    assert.equal(found.length, 4)
  })

  it('of a page are those of it alone, whatever was read before', async () => {
    const pages: Parameters<typeof weighted>[] = [
      ['The ferry leaves the harbour. A ferry waits.', 'The ferry', 'en', 9],
      ['茶园在山上。茶农在茶园采茶。', '茶园', 'zh', 9],
    ]
    const before = createKeywords(dictionary, analyzer)
    await before.keywords('A crawler fetches pages. The crawler waits.', 'Crawlers', 'en', 9)
    await before.keywords('海港里有渡船。渡船离开海港。', '渡船', 'zh', 9)
    for (const page of pages) {
      const fresh = await createKeywords(dictionary, analyzer).keywords(...page)
      assert.ok(fresh.length > 0)
      assert.deepEqual(await before.keywords(...page), fresh)
    }
  })

  it('says no word twice in two forms', async () => {
    const found = await keywords('The crawler waits. A crawler fetches.', 'Crawlers', 'en', 5)
    assert.equal(found.filter((word) => /^crawler/i.test(word)).length, 1)
  })

  it('counts English words where the model is too large for the machine', async () => {
    const counting = createKeywords(dictionary, analyzer, false)
    const text = 'A quickly moving ferry and a ferry that waits quickly.'
    const counted = await counting.keywords(text, 'Ferry', 'en', 2)
    assert.deepEqual(
      counted.map(({ word }) => word),
      ['Ferry', 'quickly'],
    )
    assert.ok(!(await keywords(text, 'Ferry', 'en', 2)).includes('quickly'))
  })

  it('gives telling words of Chinese as the page spells them', async () => {
    const text = '臺灣的茶園在山上。茶園裡的茶農每天採茶，茶農說今年的茶葉很好。我們在茶園喝茶。'
    const found = await keywords(text, '臺灣茶園', 'zh', 3)
    assert(found.includes('茶園') && found.includes('臺灣'), found.join())
    assert(!found.includes('我們'))
  })

  it('gives words of other languages that come back', async () => {
    const text =
      'Der Garten ist groß. Im Garten stehen Bäume, und die Bäume sind alt. Ein Haus steht auch dort.'
    const found = await keywords(text, '', 'de', 5)
    assert.deepEqual(found.filter((word) => ['Garten', 'Bäume'].includes(word)).sort(), [
      'Bäume',
      'Garten',
    ])
    assert(!found.includes('Haus'))
  })

  for (const [language, text] of [
    ['en', 'The search engine reads pages. A search engine fetches pages for a crawler.'],
    ['zh', '臺灣的茶園在山上。茶園裡的茶農每天採茶，茶農說今年的茶葉很好。'],
    ['de', 'Der Garten ist groß. Im Garten stehen Bäume, und die Bäume sind alt.'],
  ] as const) {
    it(`weighs them in ${language}, the first the most`, async () => {
      const weights = (await weighted(text, '', language, 5)).map(({ weight }) => weight)
      assert(weights.length > 1 && weights.every((weight) => weight > 0), weights.join())
      assert.deepEqual(
        weights,
        weights.toSorted((a, b) => b - a),
      )
    })
  }

  for (const language of ['en', 'zh', 'de', 'und']) {
    it(`gives none for an empty page in ${language}`, async () => {
      assert.deepEqual(await keywords('', '', language, 5), [])
    })
  }

  it('reads no more than its share of a huge page', async () => {
    const before = process.cpuUsage().user
    await keywords('endless words of a page '.repeat(50_000), '', 'en', 5)
    await keywords('没有尽头的页面文字'.repeat(50_000), '', 'zh', 5)
    assert(process.cpuUsage().user - before < CPU_US_MAX)
  })
})

const data = join(import.meta.dirname, '../../../../shared/eval/cranfield/docs.jsonl.gz')
describe('stems', () => {
  const nlp = winkNLP(model, [])
  const its = nlp.its as unknown as Readonly<Record<'stem', ItsFunction<string>>>
  const winkStem = (word: string) => nlp.readDoc(word).tokens().out(its.stem).join('')
  const ours = (word: string) =>
    analyzer
      .tokens(word)
      .map(({ term }) => term)
      .join('')

  it('are those of wink-nlp for common endings', () => {
    const words =
      'running flies happily nationalization generously skies dying ponies relational hopefulness controlling agreed singly'
    for (const word of words.split(' ')) assert.equal(ours(word), winkStem(word))
  })

  const skip = !existsSync(data) && process.env.CI !== 'true' && 'no ../shared/eval'
  it('are those of wink-nlp over the vocabulary of a corpus', { skip }, () => {
    const text = gunzipSync(readFileSync(data)).toString().toLowerCase()
    const vocabulary = [...new Set(text.match(/\b[a-z]{2,}\b/g))]
    assert(vocabulary.length > 5000)
    /* wink-nlp takes "cannot" for two words: only words that it leaves whole are compared. */
    const whole = vocabulary.filter((word) => nlp.readDoc(word).tokens().length() === 1)
    assert(whole.length > vocabulary.length * 0.99)
    assert.deepEqual(
      whole.filter((word) => ours(word) !== winkStem(word)),
      [],
    )
  })
})
