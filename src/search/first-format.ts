/** Leaves of the first form, as analyzers up to version 3 filled them: read as if they were of the present one, until a merge or a new index has done away with them. */
import { readAheadBytes } from './bits.ts'
import { createPacker, LEAF_VERSION, leafBytesMax } from './packer.ts'

/* [varint bytes of the term | 0 = as before][term][varint n][u8 largest quant + kind][varint last docno][varint bytes][postings] */
const EQUAL_QUANTS = 0x40
const USUAL_QUANT = 0x80
const LARGEST_MASK = 0x3f
/** Their pairs were other numbers: they are left out, as nobody asks for pairs of such an analyzer. */
const PAIR_PREFIX = '\u0002'

/** @param first docno of the first document of its segment */
export const currentLeaf = (bytes: Uint8Array, first: number): Uint8Array =>
  bytes[0] === 0 ? bytes : renewed(bytes, first)

const emptyLeaf: Uint8Array = Uint8Array.of(0, LEAF_VERSION, ...new Uint8Array(readAheadBytes))

type Postings = { values: number[]; quants: number[] }

function renewed(bytes: Uint8Array, first: number): Uint8Array {
  let leaf = emptyLeaf
  const packer = createPacker((packed) => (leaf = packed.slice()), null, 4 * leafBytesMax)
  const add = (term: string, { values, quants }: Postings): void => {
    if (values.length > 0 && !term.startsWith(PAIR_PREFIX))
      packer.add(term, Uint32Array.from(values), Uint8Array.from(quants), values.length)
  }
  let term = ''
  let postings: Postings = { values: [], quants: [] }
  const text = new TextDecoder()
  const cursor = { bytes, at: 0 }
  while (cursor.at < bytes.length) {
    const termBytes = varint(cursor)
    if (termBytes > 0) {
      add(term, postings)
      postings = { values: [], quants: [] }
      term = text.decode(bytes.subarray(cursor.at, cursor.at + termBytes))
      cursor.at += termBytes
    }
    readBlock(cursor, postings, first)
  }
  add(term, postings)
  packer.finish()
  return leaf
}

type Cursor = { bytes: Uint8Array; at: number }

function readBlock(cursor: Cursor, { values, quants }: Postings, first: number): void {
  const { bytes } = cursor
  const count = varint(cursor)
  const kind = bytes[cursor.at++] as number
  varint(cursor)
  varint(cursor)
  const isUsual = (kind & (USUAL_QUANT | EQUAL_QUANTS)) === USUAL_QUANT
  const usual = isUsual ? (bytes[cursor.at++] as number) : kind & LARGEST_MASK
  let docno = 0
  for (let i = 0; i < count; i += 1) {
    const number = varint(cursor)
    docno += isUsual ? Math.floor(number / 2) : number
    values.push(docno - first)
    const isOwn = isUsual ? number % 2 === 1 : (kind & EQUAL_QUANTS) === 0
    quants.push(isOwn ? (bytes[cursor.at++] as number) : usual)
  }
}

function varint(cursor: Cursor): number {
  let byte = cursor.bytes[cursor.at++] as number
  let value = byte & 127
  for (let unit = 128; byte > 127; unit *= 128) {
    byte = cursor.bytes[cursor.at++] as number
    value += (byte & 127) * unit
  }
  return value
}
