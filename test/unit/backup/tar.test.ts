/** The archive format: what is written is read again, tar itself reads it too, and damage is told. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { readTar, writeTar } from '../../../src/lib/tar.ts'

type Plain = { name: string; text: string }

const modifiedAtMs = Date.UTC(2026, 0, 2, 3, 4, 5)
const packed = async (files: readonly Plain[]): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  const tar = writeTar(
    files.map(({ name, text }) => ({
      name,
      modifiedAtMs,
      bytes: Buffer.byteLength(text),
      content: [Buffer.from(text)],
    })),
  )
  for await (const chunk of tar) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function* inPieces(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += pieceBytes)
    yield bytes.subarray(at, at + pieceBytes)
}

const unpacked = async (bytes: Uint8Array, pieceBytes = 700): Promise<Plain[]> => {
  const files: Plain[] = []
  for await (const { name, content } of readTar(inPieces(bytes, pieceBytes))) {
    const chunks: Uint8Array[] = []
    for await (const chunk of content) chunks.push(chunk)
    files.push({ name, text: Buffer.concat(chunks).toString() })
  }
  return files
}

const file: fc.Arbitrary<Plain> = fc.record(
  {
    name: fc.stringMatching(/^[a-z0-9][a-z0-9/._-]{0,99}$/),
    text: fc.string({ maxLength: 3_000 }).map((text) => text.toWellFormed()),
  },
  { noNullPrototype: true },
)

describe('a tar archive', () => {
  it('gives back the files that were put in, however the bytes arrive', async () => {
    const pieces = fc.integer({ min: 1, max: 5_000 })
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 4 }), pieces, async (files, pieceBytes) => {
        assert.deepEqual(await unpacked(await packed(files), pieceBytes), files)
      }),
      { numRuns: 60 },
    )
  })

  it('skips what nobody reads', async () => {
    const bytes = await packed([
      { name: 'a', text: 'x'.repeat(5_000) },
      { name: 'b', text: 'y' },
    ])
    const names: string[] = []
    for await (const { name } of readTar(inPieces(bytes, 512))) names.push(name)
    assert.deepEqual(names, ['a', 'b'])
  })

  it('is read by tar itself', async (t) => {
    const bytes = await packed([{ name: 'folder/one.txt', text: 'eins 一' }])
    const listing = spawnSync('tar', ['-tvf', '-', '--utc'], { input: bytes, encoding: 'utf8' })
    if (listing.error !== undefined) return t.skip('no tar here')
    assert.match(listing.stdout, /^-rw------- .* 8 2026-01-02 03:04 folder\/one\.txt\n$/)
    const text = spawnSync('tar', ['-xOf', '-', 'folder/one.txt'], { input: bytes })
    assert.equal(text.stdout.toString(), 'eins 一')
  })

  it('holds sizes beyond eight gigabytes', async () => {
    const bytes = 5 * 2 ** 40
    const tar = writeTar([{ name: 'huge', bytes, modifiedAtMs, content: [] }])
    const header: Uint8Array | undefined = (await tar.next()).value
    assert.ok(header)
    const read = readTar(inPieces(header, 512))
    assert.equal((await read.next()).value?.bytes, bytes)
  })

  it('is told from anything else, from a damaged and from a cut one', async () => {
    const whole = await packed([{ name: 'a', text: 'x'.repeat(1_000) }])
    const damaged = Buffer.from(whole)
    damaged[3] = (damaged[3] ?? 0) ^ 1
    const cases = [
      Buffer.from('<html>no archive</html>'.repeat(40)),
      damaged,
      whole.subarray(0, 300),
      whole.subarray(0, 1_000),
      whole.subarray(0, 2 * 512 + 1_000),
    ]
    for (const bytes of cases) await assert.rejects(unpacked(bytes), { code: 'bad_input' })
  })

  it('refuses links, whose targets could lie anywhere', async () => {
    const bytes = await packed([{ name: 'link', text: '' }])
    bytes.write('2', 156)
    // The sum of the header grows by as much as the type did.
    const sum = Number.parseInt(bytes.toString('latin1', 148, 154), 8) + 2
    bytes.write(sum.toString(8).padStart(6, '0'), 148)
    await assert.rejects(unpacked(bytes), /no plain file/)
  })

  it('refuses to write a file that is not as long as it said', async () => {
    const tar = writeTar([{ name: 'a', bytes: 3, modifiedAtMs, content: [Buffer.from('ab')] }])
    const drain = async (): Promise<void> => {
      for await (const _ of tar);
    }
    await assert.rejects(drain(), { code: 'io' })
  })
})
