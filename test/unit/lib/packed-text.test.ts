/** Stored texts: what goes in comes out, also of those that older versions packed, and an opening without the rest. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deflateRawSync, zstdDecompressSync } from 'node:zlib'
import {
  packedBytesOf,
  packText,
  unpackOpening,
  unpackOpenings,
  unpackText,
} from '../../../src/lib/packed-text.ts'
import { createRandom } from '../../site/words.ts'

/** Characters of one to four bytes that hardly repeat. */
function noise(units: number, seed: number): string {
  const random = createRandom(seed)
  let text = ''
  while (text.length < units)
    text += String.fromCodePoint(
      [0x20, 0xa0, 0x4e00, 0x20000][Math.floor(random() * 4)]! + Math.floor(random() * 90),
    )
  return text
}

const texts: Record<string, string> = {
  nothing: '',
  'one letter': 'a',
  'one letter often': 'a'.repeat(40_000),
  'a sentence': 'The old harbour bridge was closed on Monday.',
  Chinese: '\u5b89\u88c5\u6587\u4ef6'.repeat(300),
  ...Object.fromEntries([255, 256, 512, 513].map((bytes) => [`${bytes} bytes`, 'b'.repeat(bytes)])),
  'noise of some frames': noise(60_000, 1),
  'a text of some frames': 'All work and no play makes a dull page. '.repeat(5_000),
  'a character across two frames': `${'x'.repeat(32_767)}\u{20000}${'y'.repeat(40_000)}`,
}
/** As versions before stored them. */
const deflated = (text: string): Uint8Array => new Uint8Array(deflateRawSync(text))
const ways = { packed: packText, 'packed by an older version': deflated }

describe('a stored text', () => {
  for (const [name, text] of Object.entries(texts))
    for (const [way, pack] of Object.entries(ways))
      it(`is ${name}, ${way}`, () => assert.equal(unpackText(pack(text)), text))

  it('lies in a buffer of its own, which may be transferred', () => {
    for (const text of Object.values(texts)) {
      const packed = packText(text)
      assert.equal(packed.buffer.byteLength, packed.byteLength)
    }
  })

  it('is small: a repeated sentence takes a hundredth, noise no more than itself', () => {
    const sentences = texts['a text of some frames'] as string
    assert.ok(packText(sentences).length < sentences.length / 100)
    const random = noise(60_000, 2)
    assert.ok(packText(random).length < Buffer.byteLength(random))
  })

  it('is zstd of a known size to anybody', () => {
    for (const text of Object.values(texts))
      assert.equal(zstdDecompressSync(packText(text)).toString('utf8'), text)
  })

  it('that is damaged is an error', () => {
    const packed = packText(texts['a sentence'] as string)
    assert.throws(() => unpackText(packed.subarray(0, packed.length - 3)))
    assert.throws(() => unpackText(Uint8Array.of(0xff, 1, 2, 3)))
    for (let at = 0; at < 9; at += 1) {
      const other = Uint8Array.from(packed)
      other[at] = (other[at] ?? 0) ^ 0x80
      assert.throws(() => unpackText(other), `byte ${at}`)
    }
  })
})

describe('the opening of a stored text', () => {
  for (const [way, pack] of Object.entries(ways))
    it(`is as the whole text begins, ${way}`, () => {
      for (const text of Object.values(texts))
        for (const units of [1, 2, 100, 2_000, 30_000]) {
          const packed = pack(text)
          assert.ok(packed.length > 0)
          const first = packed.subarray(0, packedBytesOf(units))
          const opening = unpackOpening(first, packed.length, units)
          if (opening !== null)
            assert.equal(opening.toWellFormed(), text.slice(0, units).toWellFormed())
          else assert.ok(first.length < packed.length)
        }
    })

  it('needs only the first bytes of a long text', () => {
    const text = noise(400_000, 3)
    const packed = packText(text)
    const first = packed.subarray(0, packedBytesOf(1_000))
    assert.ok(first.length < packed.length / 10)
    assert.equal(unpackOpening(first, packed.length, 1_000), text.slice(0, 1_000))
  })
})

describe('the openings of some texts at once', () => {
  const packed = Object.values(ways).flatMap((pack) => Object.values(texts).map(pack))

  it('are what each is by itself, of all sizes and of both ways of packing', () => {
    for (const units of [1, 100, 2_000, 30_000, 100_001]) {
      const wanted = packed.map((all) => all.subarray(0, packedBytesOf(units)))
      const openings = unpackOpenings(
        wanted.map((bytes, i) => ({ bytes, bytesAll: packed[i]?.length ?? 0 })),
        units,
      )
      wanted.forEach((bytes, i) =>
        assert.equal(openings[i], unpackOpening(bytes, packed[i]?.length ?? 0, units)),
      )
    }
  })

  it('are so wherever the bytes that are at hand end', () => {
    const all = packText(texts['a text of some frames'] as string)
    for (let length = 1; length < all.length; length += 1) {
      const bytes = all.subarray(0, length)
      const [whole = null, cut = null] = unpackOpenings(
        [
          { bytes: all, bytesAll: all.length },
          { bytes, bytesAll: all.length },
        ],
        500,
      )
      assert.equal(whole, texts['a text of some frames']?.slice(0, 500))
      assert.equal(cut, unpackOpening(bytes, all.length, 500), `${length} bytes`)
    }
  })

  it('are an error where one of them is damaged', () => {
    const sound = { bytes: packText('sound'), bytesAll: packText('sound').length }
    const short = packText(texts['Chinese'] as string).subarray(0, -3)
    assert.throws(() => unpackOpenings([sound, { bytes: short, bytesAll: short.length }], 10))
    const other = Uint8Array.from(packText(noise(500, 4)))
    // The length that the header tells: a decoder believes nothing else.
    other[5] = (other[5] ?? 0) ^ 1
    assert.throws(() => unpackOpenings([{ bytes: other, bytesAll: other.length }, sound], 10))
  })

  it('are none where none are asked for', () => assert.deepEqual(unpackOpenings([], 10), []))
})
