/** Which queries are counted, and that they leave in batches. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createQueryMemory } from '../../src/query-memory.ts'
import type { SearchAnswer } from '../../src/search/answer.ts'
import type { AskedQuery } from '../../src/store/asked-queries.ts'
import { requestDefaults } from '../../src/search/request.ts'

const answer = (value: number, suggestions: SearchAnswer['suggestions'] = []): SearchAnswer => ({
  query: {
    text: '',
    parsed: { must: [], phrases: [], without: [], site: [], lang: [] },
    matched: 'all',
    lang: 'und',
  },
  total: { value, relation: 'eq' },
  took_ms: 1,
  generation: '1',
  limit: 10,
  offset: 0,
  suggestions,
  warnings: [],
  hits: [],
  next_cursor: null,
  facets: {},
  help: null,
})

describe('the memory of queries', () => {
  it('counts those that found something, as words, in one batch', () => {
    const sent: (readonly AskedQuery[])[] = []
    const rings: (() => void)[] = []
    const memory = createQueryMemory(
      (asked) => sent.push(asked),
      (ring) => rings.push(ring),
    )
    const note = (q: string, total = 1, more = {}): void =>
      memory.note({ ...requestDefaults, q, ...more }, answer(total))
    for (const q of ['Stone  age', 'stone age ', '食品安全']) note(q)
    note('nothing', 0)
    note('stone age', 5, { offset: 10 })
    note('stone age', 5, { cursor: 'x' })
    for (const q of [
      '',
      ' ',
      '42',
      'ann@example.org',
      'site:a.b x',
      'call 13800138000',
      'a -b',
      '"a b"',
      'x'.repeat(81),
    ])
      note(q)
    memory.note(
      { ...requestDefaults, q: 'wrogn' },
      answer(3, [{ text: 'wrong', type: 'correction' }]),
    )
    assert.equal(sent.length, 0)
    assert.equal(rings.length, 1)
    rings[0]?.()
    assert.deepEqual(sent, [
      [
        { folded: 'stone age', text: 'stone age', count: 2 },
        { folded: '食品安全', text: '食品安全', count: 1 },
      ],
    ])
    memory.flush()
    for (let i = 0; i < 1_500; i += 1) note(`query x${i}`)
    memory.flush()
    assert.deepEqual(
      sent.map((asked) => asked.length),
      [2, 1_000],
    )
  })
})
