/** The door to koffi: files mapped into memory, the C allocator told to be frugal, pages given back. Loaded on demand, because not every machine has it. */
import { closeSync, openSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { AppError } from './errors.ts'
import { mappingOfBun } from './mmap-bun.ts'

/** Offsets and lengths are multiples of this, which fits kernels with pages of 4, 16 and 64 KiB. */
export const mapGranuleBytes = 65_536

/**
 * A part of a file as memory. It stays mapped until the process ends: unmapping under a living view would be a crash that
 * nothing can catch, and a mapping costs address space only. Never transfer its buffer.
 */
export type MappedRegion = {
  words: Uint32Array<ArrayBuffer>
  /** Waits until the disk has the region. The kernel writes it back at other times as well. */
  sync(): void
}

export type Mapper = {
  /**
   * Allocates the blocks up to the end of the region (the file grows where needed) and maps it. On a sparse file a full disk would end the
   * process by SIGBUS; here it is an error before anything is mapped.
   * @throws AppError storage_full | io
   */
  map(file: string, offsetBytes: number, lengthBytes: number): MappedRegion
}

/** What a runtime supplies; `createMapper` knows what holds for all of them. */
export type FileMapping = {
  /**
   * Gives the file blocks up to `endBytes`, so that no hole is left before a region either.
   * @throws AppError storage_full | io
   */
  allocate(file: string, endBytes: number): void
  /** @throws AppError io */
  map(file: string, offsetBytes: number, lengthBytes: number): MappedRegion
}

const protectRead = 1
const protectWrite = 2
const mapShared = 1
const msyncWait = 4
const mapFailed = 0xffff_ffff_ffff_ffffn
/** What `blocks` of a file's state counts in, whatever the file system. */
const blockBytes = 512
const noSpaceErrors = [28 /* ENOSPC */, 122 /* EDQUOT */]

/** @throws AppError io where koffi has no build for this machine: the caller uses heap memory instead. */
export async function loadMapper(): Promise<Mapper> {
  const ofBun = mappingOfBun()
  if (ofBun !== null) return createMapper(ofBun)
  try {
    return createMapper(mappingOfKoffi(await import('koffi')))
  } catch (error) {
    throw new AppError('io', `files cannot be mapped: ${String(error)}`, { cause: error })
  }
}

/* mallopt's names, and glibc's own defaults are 8 arenas a core, 128 KiB rising with use. */
const arenaMax = -8
const trimThreshold = -1
const mmapThreshold = -3

/**
 * One heap for all threads that gives memory back: some 15 MB less at the peak of a crawl. The thresholds stay above what zlib asks for
 * at each page (64 KiB pieces), or every page pays for fresh mappings. To be called before the first thread starts; does nothing where
 * koffi or mallopt is not to be had (musl).
 */
export async function tuneAllocator(): Promise<void> {
  try {
    const koffi = await import('koffi')
    const mallopt = koffi.load(null).func('int mallopt(int name, int value)')
    mallopt(arenaMax, 1)
    mallopt(trimThreshold, 524_288)
    mallopt(mmapThreshold, 131_072)
  } catch {
    // It runs without, only larger.
  }
}

function createMapper(mapping: FileMapping): Mapper {
  return {
    map(file, offsetBytes, lengthBytes) {
      if (offsetBytes % mapGranuleBytes !== 0 || lengthBytes % mapGranuleBytes !== 0)
        throw new RangeError(`mapped regions are multiples of ${mapGranuleBytes} bytes`)
      mapping.allocate(file, offsetBytes + lengthBytes)
      const { size, blocks } = statSync(file)
      // A file system that compresses or promises more than it has cannot be trusted with a mapping.
      if (blocks * blockBytes < size) throw new AppError('io', `${file} is sparse: not mapped`)
      return mapping.map(file, offsetBytes, lengthBytes)
    },
  }
}

/** Addresses from..to-1 of this process. */
export type AddressRange = { from: number; to: number }

const adviseDontNeed = 4

/**
 * How to let go of memory that is not in use. First, what the C library keeps for later: the compilers of V8 work in the heaps of their own
 * threads, which were there before `tuneAllocator`, and leave some 20 MB behind at times. Second, pages of the executable that nothing has
 * asked for since the last call: modules of Node, its snapshot, ICU's tables, a good half of what a start has touched. They stay in the
 * kernel's cache, so that one that is needed again costs a minor fault, but the kernel may have them. A call takes 5-20 ms of CPU time.
 * Null where koffi, glibc or /proc is not to be had.
 */
export async function createMemoryReleaser(): Promise<(() => void) | null> {
  try {
    const koffi = await import('koffi')
    const libc = koffi.load(null)
    const mallocTrim = libc.func('int malloc_trim(size_t keep)')
    const madvise = libc.func('int madvise(uintptr_t at, size_t length, int advice)')
    const ranges = unwrittenRanges(
      readFileSync('/proc/self/smaps', 'latin1'),
      readlinkSync('/proc/self/exe'),
    )
    return () => {
      mallocTrim(0)
      for (const { from, to } of ranges) madvise(from, to - from, adviseDontNeed)
    }
  } catch {
    // It runs without, only larger.
    return null
  }
}

/**
 * The mappings of a file that cannot be written and of which no page was changed before that (the linker does so): what the kernel
 * can read again from the file.
 * @param smaps the text of /proc/self/smaps
 */
export function unwrittenRanges(smaps: string, file: string): AddressRange[] {
  const ranges: AddressRange[] = []
  const mapping =
    /^([0-9a-f]+)-([0-9a-f]+) r-[x-]p \S+ \S+ \d+ +(.*)\n(?:(?![0-9a-f]+-).*\n)*?Anonymous: +0 kB$/gm
  for (const [, from = '', to = '', path] of smaps.matchAll(mapping))
    if (path === file) ranges.push({ from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) })
  return ranges
}

function mappingOfKoffi(koffi: typeof import('koffi')): FileMapping {
  // null: the C library that this program is linked with.
  const libc = koffi.load(null)
  const fallocate = libc.func('int posix_fallocate(int fd, int64_t offset, int64_t length)')
  const mmap = libc.func(
    'void *mmap(void *at, size_t length, int protection, int flags, int fd, int64_t offset)',
  )
  const msync = libc.func('int msync(void *at, size_t length, int flags)')
  return {
    allocate(file, endBytes) {
      const failure: number = withFile(file, (fd) => fallocate(fd, 0, endBytes))
      if (failure === 0) return
      const code = noSpaceErrors.includes(failure) ? 'storage_full' : 'io'
      throw new AppError(code, `${file}: ${endBytes} bytes cannot be allocated (error ${failure})`)
    },
    map(file, offsetBytes, lengthBytes) {
      // POSIX: the mapping outlives the descriptor.
      const at: unknown = withFile(file, (fd) =>
        mmap(null, lengthBytes, protectRead | protectWrite, mapShared, fd, offsetBytes),
      )
      if (at === null || koffi.address(at) === mapFailed)
        throw new AppError('io', `${file}: mmap failed (error ${koffi.errno()})`)
      return {
        words: new Uint32Array(koffi.view(at, lengthBytes)),
        sync() {
          const failure: number = msync(at, lengthBytes, msyncWait)
          if (failure !== 0)
            throw new AppError('io', `${file}: msync failed (error ${koffi.errno()})`)
        },
      }
    },
  }
}

function withFile<R>(file: string, work: (fd: number) => R): R {
  const fd = openSync(file, 'r+')
  try {
    return work(fd)
  } finally {
    closeSync(fd)
  }
}
