/** Values that people wrote: what is right is typed, each mistake names its place and the nearest right thing. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lineOfPath } from '../../../src/lib/json-lines.ts'
import {
  choice,
  list,
  named,
  nearest,
  number,
  object,
  oneOrMore,
  text,
  ValueProblem,
} from '../../../src/lib/read-value.ts'

const reader = object(
  {
    name: text({ max: 5 }),
    size: number({ min: 1, max: 9 }),
    kind: choice(['list', 'detail']),
    tags: oneOrMore(text({ max: 3 }), { max: 2 }),
    parts: list(object({ href: text({ max: 9 }) }, ['href']), { max: 2 }),
    fields: named({ pattern: /^[a-z]+$/, wanted: 'small letters', max: 2 }, text({ max: 9 })),
  },
  ['name'],
)
const problemOf = (value: unknown): string => {
  try {
    reader(value, '')
  } catch (error) {
    assert.ok(error instanceof ValueProblem)
    return `${error.path}: ${error.message}`
  }
  return 'none'
}

describe('reading a value', () => {
  it('gives back what is right, one value where a list is possible as a list', () => {
    assert.deepEqual(reader({ name: 'n', size: 9, tags: 'a', parts: [{ href: 'x' }] }, ''), {
      name: 'n',
      size: 9,
      tags: ['a'],
      parts: [{ href: 'x' }],
    })
  })
  const faults: [unknown, RegExp][] = [
    [[], /^: an object is wanted, not \[\]/],
    [null, /^: an object is wanted, not null/],
    [{}, /^: "name" is missing/],
    [{ name: 'n', szie: 1 }, /^szie: .*did you mean "size"\?/],
    [{ name: 'n', zzzzzz: 1 }, /^zzzzzz: .*one of name, size/],
    [{ name: '' }, /^name: 1 to 5 characters/],
    [{ name: 'sixsix' }, /^name: 1 to 5 characters are possible, not 6/],
    [{ name: 7 }, /^name: a text is wanted, not 7/],
    [{ name: 'n', size: 0 }, /^size: a whole number from 1 to 9 is wanted, not 0/],
    [{ name: 'n', size: 10 }, /^size: /],
    [{ name: 'n', size: 1.5 }, /^size: /],
    [{ name: 'n', kind: 'detial' }, /^kind: .*did you mean "detail"/],
    [{ name: 'n', tags: ['a', 'b', 'c'] }, /^tags: 1 to 2 entries are possible, not 3/],
    [{ name: 'n', tags: [] }, /^tags: 1 to 2/],
    [{ name: 'n', parts: [{ href: 'x' }, { herf: 'x' }] }, /^parts\[1\]\.herf: .*"href"/],
    [{ name: 'n', fields: { A: 'x' } }, /^fields\.A: the name is not possible: small letters/],
    [JSON.parse('{"name":"n","fields":{"__proto__":"x"}}'), /__proto__: the name/],
    [{ name: 'n', fields: { a: '1', b: '2', c: '3' } }, /^fields: at most 2/],
  ]
  for (const [value, wanted] of faults)
    it(`refuses ${JSON.stringify(value)}`, () => assert.match(problemOf(value), wanted))

  it('takes no name of the language for a key', () => {
    assert.match(problemOf(JSON.parse('{"name":"n","constructor":1}')), /^constructor: /)
  })
  it('finds the near name, and none where all are far', () => {
    assert.equal(nearest('mach', ['match', 'max']), 'match')
    assert.equal(nearest('ac', ['zz', 'yyyy']), null)
  })
})

describe('the line of a mistake', () => {
  const json = '{\n "a": "x}\\"",\n "b": [\n  {"c": 1},\n  {"c": [2,\n 3]}\n ]\n}'
  const places: [string, number][] = [
    ['a', 2],
    ['b', 3],
    ['b[0]', 4],
    ['b[1].c', 5],
    ['b[1].c[1]', 6],
    ['b[1].missing', 5],
    ['', 1],
  ]
  for (const [path, line] of places)
    it(`is found in JSON: ${path || 'the whole'}`, () =>
      assert.equal(lineOfPath(json, path, false), line))
  it('is found in TOML where the key stands once', () => {
    const toml = '[[sources]]\nname = "n"\nscoep = "host"\n[[sources]]\nname = "m"\n'
    assert.equal(lineOfPath(toml, 'sources[0].scoep', true), 3)
    assert.equal(lineOfPath(toml, 'sources[1].name', true), null)
  })
})
