/** Postings in typed arrays that grow and are used again. */
export type PostingList = { docnos: Uint32Array; quants: Uint8Array; count: number }

export const createPostingList = (): PostingList => ({
  docnos: new Uint32Array(512),
  quants: new Uint8Array(512),
  count: 0,
})

/** Makes room for `count` postings in all, fourfold when it must grow. */
export function reserve(list: PostingList, count: number): void {
  if (count <= list.docnos.length) return
  const size = Math.max(count, list.docnos.length * 4)
  const docnos = new Uint32Array(size)
  const quants = new Uint8Array(size)
  docnos.set(list.docnos.subarray(0, list.count))
  quants.set(list.quants.subarray(0, list.count))
  list.docnos = docnos
  list.quants = quants
}
