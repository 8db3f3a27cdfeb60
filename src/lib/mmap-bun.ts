/** Bun's own mmap behind the contract of lib/mmap.ts. It has neither fallocate nor msync: zeros are written, and fsync waits for the disk. */
import { closeSync, fstatSync, fsyncSync, openSync, statfsSync, writeSync } from 'node:fs'
import { AppError } from './errors.ts'
import type { FileMapping } from './mmap.ts'

type Bun = {
  mmap(
    file: string,
    options: { shared: true; offset: number; size: number },
  ): Uint8Array<ArrayBuffer>
}

const zeros = new Uint8Array(65_536)

/** Null where the program does not run under Bun. */
export function mappingOfBun(): FileMapping | null {
  const bun = (globalThis as { Bun?: Bun }).Bun
  if (bun === undefined) return null
  return {
    allocate: lengthen,
    map(file, offsetBytes, lengthBytes) {
      const bytes = bun.mmap(file, { shared: true, offset: offsetBytes, size: lengthBytes })
      return {
        words: new Uint32Array(bytes.buffer, bytes.byteOffset, lengthBytes / 4),
        // On Linux this writes back what mappings of the file have changed as well.
        sync: () => withFile(file, fsyncSync),
      }
    },
  }
}

/** Blocks that are written are blocks that exist: a full disk is an error here and no SIGBUS later. */
function lengthen(file: string, endBytes: number): void {
  withFile(file, (fd) => {
    const { bavail, bsize } = statfsSync(file)
    // Before a byte is taken, so that a wish that cannot be met does not fill the disk for everybody.
    if (endBytes - fstatSync(fd).size > bavail * bsize)
      throw new AppError('storage_full', `${file}: ${endBytes} bytes cannot be allocated`)
    try {
      for (let at = fstatSync(fd).size; at < endBytes; at += zeros.length)
        writeSync(fd, zeros, 0, Math.min(zeros.length, endBytes - at), at)
      fsyncSync(fd)
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'ENOSPC'
      throw new AppError(isFull ? 'storage_full' : 'io', `${file}: ${String(error)}`, {
        cause: error,
      })
    }
  })
}

function withFile(file: string, work: (fd: number) => void): void {
  const fd = openSync(file, 'r+')
  try {
    work(fd)
  } finally {
    closeSync(fd)
  }
}
