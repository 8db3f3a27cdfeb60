/** The small JSON Schema checker: each keyword one below, at and above its limit. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readQuery } from '../../../src/server/call.ts'
import { checkValue, objectOfQuery, withDefaults } from '../../../src/server/json-schema.ts'
import type { Schema } from '../../../src/server/json-schema.ts'

const cases: { schema: Schema; good: unknown[]; bad: unknown[] }[] = [
  { schema: { type: 'integer' }, good: [0, -1, 1e3], bad: [1.5, '1', null, NaN] },
  { schema: { type: 'number' }, good: [0.5], bad: [Infinity, '0'] },
  { schema: { type: ['string', 'null'] }, good: ['', null], bad: [0, undefined] },
  { schema: { type: 'object' }, good: [{}], bad: [[], null] },
  { schema: { enum: ['a', 'b'] }, good: ['a'], bad: ['c', null] },
  { schema: { type: 'integer', minimum: 1, maximum: 50 }, good: [1, 50], bad: [0, 51] },
  { schema: { type: 'string', minLength: 1, maxLength: 3 }, good: ['a', 'abc'], bad: ['', 'abcd'] },
  { schema: { type: 'string', pattern: '^a+$' }, good: ['aa'], bad: ['ab'] },
  {
    schema: { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 2 },
    good: [[1], [1, 2]],
    bad: [[], [1, 2, 3], ['1']],
  },
  {
    schema: { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] },
    good: [[1, 'a']],
    bad: [
      ['a', 'b'],
      [1, 1],
    ],
  },
  {
    schema: {
      type: 'object',
      properties: { a: { type: 'integer' } },
      required: ['a'],
      additionalProperties: false,
    },
    good: [{ a: 1 }],
    bad: [
      {},
      { a: 'x' },
      { a: 1, b: 2 },
      JSON.parse('{"a": 1, "__proto__": 2}'),
      { a: 1, toString: 1 },
    ],
  },
  {
    schema: { type: 'object', additionalProperties: { type: 'integer' } },
    good: [{ x: 1 }],
    bad: [{ x: 'a' }],
  },
  { schema: { anyOf: [{ type: 'null' }, { type: 'integer' }] }, good: [null, 1], bad: ['a'] },
]

describe('checkValue', () => {
  for (const { schema, good, bad } of cases) {
    const name = JSON.stringify(schema)
    for (const value of good) {
      it(`takes ${JSON.stringify(value)} for ${name}`, () =>
        assert.deepEqual(checkValue(schema, value), []))
    }
    for (const value of bad) {
      it(`refuses ${JSON.stringify(value)} for ${name}`, () =>
        assert.equal(checkValue(schema, value).length, 1))
    }
  }
  it('says where the fault is, as a JSON pointer', () => {
    const schema: Schema = {
      properties: { 'a/b': { type: 'array', items: { type: 'integer' } } },
    }
    assert.equal(checkValue(schema, { 'a/b': [1, 'x'] })[0]?.pointer, '/a~1b/1')
  })
})

describe('objectOfQuery', () => {
  const schema: Schema = {
    properties: { n: { type: 'integer' }, list: { type: 'array' }, s: { type: 'string' } },
  }
  const read = (query: string) => objectOfQuery(schema, readQuery(query))
  it('makes numbers only of what is written as one', () => {
    assert.deepEqual(read('n=12'), { n: 12 })
    for (const word of ['1e3', '0x10', ' 1', '', '1.0', 'NaN']) {
      assert.deepEqual(read(`n=${encodeURIComponent(word)}`), { n: word })
    }
  })
  it('gives a list all values and leaves a doubled word as a list, so that the check names it', () => {
    assert.deepEqual(read('list=a'), { list: ['a'] })
    assert.deepEqual(read('list=a&list=b'), { list: ['a', 'b'] })
    assert.deepEqual(read('s=a&s=b'), { s: ['a', 'b'] })
  })
  it('never fails: bad percents are text, NUL is dropped, __proto__ is a name', () => {
    assert.deepEqual(read('s=%'), { s: '%' })
    assert.deepEqual(read('s=%ff'), { s: '\ufffd' })
    assert.deepEqual(read('s=a%00b'), { s: 'ab' })
    assert.deepEqual(Object.entries(read('__proto__=x')), [['__proto__', 'x']])
  })
})

describe('withDefaults', () => {
  it('fills what is absent and keeps what is there', () => {
    const schema: Schema = { properties: { a: { default: 1 }, b: { default: null }, c: {} } }
    assert.deepEqual(withDefaults(schema, { a: 2 }), { a: 2, b: null })
  })
})
