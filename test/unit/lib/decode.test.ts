/** Content codings: labels lie, bodies break off, bombs are refused. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { contentCodings, decodeBody } from '../../../src/lib/decode.ts'

/** Text that packs to about half: cuts fall into the middle of it. */
const text = Buffer.from(
  Array.from({ length: 2_000 }, (_, i) => createHash('sha1').update(`${i}`).digest('hex')).join(
    '\n',
  ),
)
const gzip = gzipSync(text)
const edited = (bytes: Uint8Array, edit: (copy: Buffer) => void): Buffer => {
  const copy = Buffer.from(bytes)
  edit(copy)
  return copy
}
const bytesMax = text.length
const middle = Math.floor(gzip.length / 2)

describe('contentCodings', () => {
  const headers: readonly (readonly [header: string, codings: string | null])[] = [
    ['', ''],
    ['identity', ''],
    ['gzip', 'gzip'],
    [' GZip ', 'gzip'],
    ['x-gzip', 'gzip'],
    ['deflate', 'deflate'],
    ['deflate, gzip', 'deflate, gzip'],
    ['gzip, gzip, gzip', null],
    ['br', null],
    ['zstd', null],
    ['gzip, br', null],
    ['none', ''],
    ['utf-8', ''],
    ['aws-chunked, gzip', 'gzip'],
  ]
  for (const [header, codings] of headers) {
    it(`"${header}" is ${codings ?? 'not decoded'}`, () =>
      assert.equal(contentCodings(header), codings))
  }
})

describe('decodeBody', () => {
  const whole: readonly (readonly [name: string, body: Uint8Array, codings: string])[] = [
    ['gzip', gzip, 'gzip'],
    ['gzip under another name', gzip, 'x-gzip'],
    ['gzip that nobody labelled', gzip, ''],
    ['gzip in gzip', gzipSync(gzip), 'gzip, gzip'],
    ['gzip in gzip, labelled once', gzipSync(gzip), 'gzip'],
    ['gzip, labelled twice', gzip, 'gzip, gzip'],
    [
      'gzip of two members',
      Buffer.concat([gzipSync(text.subarray(0, 999)), gzipSync(text.subarray(999))]),
      'gzip',
    ],
    ['deflate with its wrapper', deflateSync(text), 'deflate'],
    ['deflate without it', deflateRawSync(text), 'deflate'],
    ['gzip labelled deflate', gzip, 'deflate'],
    ['deflate in gzip', gzipSync(deflateSync(text)), 'deflate, gzip'],
    ['text labelled gzip', text, 'gzip'],
    ['text labelled deflate', text, 'deflate'],
    ['text', text, ''],
  ]
  for (const [name, body, codings] of whole) {
    it(`reads ${name}`, () => {
      const decoded = decodeBody(body, codings, bytesMax)
      assert.ok(decoded.kind === 'decoded' && text.equals(decoded.bytes) && !decoded.damaged)
    })
  }

  const broken: readonly (readonly [
    name: string,
    body: Uint8Array,
    bytesMin: number,
    isBeginning?: false,
  ])[] = [
    ['cut short', gzip.subarray(0, middle), text.length * 0.4],
    ['cut before its check', gzip.subarray(0, gzip.length - 8), text.length],
    [
      'with a wrong check',
      edited(gzip, (copy) => copy.fill(0, copy.length - 8, copy.length - 4)),
      text.length,
    ],
    [
      'followed by junk',
      Buffer.concat([gzip, Buffer.from([0x1f, 0x8b, 9, 9, 9, 9, 9, 9, 9, 9])]),
      text.length,
    ],
    [
      'spoilt in the middle',
      edited(gzip, (copy) => copy.fill(0xaa, middle, middle + 2_000)),
      text.length * 0.4,
      false,
    ],
    ['cut in its header', gzip.subarray(0, 5), 0],
    ['a header and then text', Buffer.concat([gzip.subarray(0, 10), Buffer.from('<html>')]), 0],
  ]
  for (const [name, body, bytesMin, isBeginning] of broken) {
    it(`keeps what came before the damage of gzip ${name}`, () => {
      const decoded = decodeBody(body, 'gzip', 2 * bytesMax)
      assert.ok(decoded.kind === 'decoded' && decoded.damaged)
      assert.ok(decoded.bytes.length >= bytesMin, `${decoded.bytes.length}`)
      const sure = isBeginning === false ? bytesMin : decoded.bytes.length
      assert.ok(text.subarray(0, sure).equals(decoded.bytes.subarray(0, sure)))
    })
  }

  it('is silent about junk that no gzip follows', () => {
    const decoded = decodeBody(Buffer.concat([gzip, Buffer.from('junk')]), 'gzip', bytesMax)
    assert.ok(decoded.kind === 'decoded' && text.equals(decoded.bytes))
  })

  it('takes exactly the cap, and refuses one byte more, in every coding', () => {
    for (const [body, codings] of [
      [gzip, 'gzip'],
      [deflateSync(text), 'deflate'],
      [text, ''],
    ] as const) {
      assert.equal(decodeBody(body, codings, text.length).kind, 'decoded')
      assert.deepEqual(decodeBody(body, codings, text.length - 1), {
        kind: 'refused',
        reason: 'size',
      })
    }
  })

  it('refuses a bomb without unpacking it', () => {
    const bomb = gzipSync(Buffer.alloc(64 << 20))
    const rssBefore = process.memoryUsage().rss
    assert.deepEqual(decodeBody(bomb, 'gzip', 5 << 20), { kind: 'refused', reason: 'size' })
    assert.deepEqual(decodeBody(gzipSync(bomb), 'gzip', 5 << 20), {
      kind: 'refused',
      reason: 'size',
    })
    assert.deepEqual(decodeBody(bomb.subarray(0, bomb.length - 9), 'gzip', 5 << 20), {
      kind: 'refused',
      reason: 'size',
    })
    assert.ok(process.memoryUsage().rss - rssBefore < 60 << 20)
  })

  it('refuses what it cannot decode', () => {
    assert.deepEqual(decodeBody(gzip, 'br', bytesMax), { kind: 'refused', reason: 'encoding' })
  })

  it('never throws, whatever the bytes', () => {
    const bytes = fc
      .tuple(
        fc.constantFrom([], [0x1f, 0x8b, 8, 0], [0x78, 0x9c]),
        fc.uint8Array({ maxLength: 60 }),
      )
      .map(([head, tail]) => Uint8Array.from([...head, ...tail]))
    fc.assert(
      fc.property(
        bytes,
        fc.constantFrom('', 'gzip', 'deflate', 'gzip, deflate'),
        (body, codings) => {
          assert.ok(decodeBody(body, codings, 10_000).kind === 'decoded')
        },
      ),
      { numRuns: 500 },
    )
  })
})
