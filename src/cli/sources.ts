/** Described sources on the command line: the file is read and proved here, before anything is started, then handed to the engine. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { type DescribedInFile, parseSourceFile, sourceFileBytesMax } from '../crawl/source-file.ts'
import { parseRecorded, type Recorded, recordedFileOf, withRecorded } from '../crawl/recorded.ts'
import { AppError } from '../lib/errors.ts'
import type { SourceStatus } from '../store/records.ts'

/** With what was recorded of their rules. @throws AppError input_missing | bad_input */
export function readSourceFile(file: string): DescribedInFile[] {
  return withRecorded(readWrittenSources(file), readRecordedFile(file))
}

/** What `rules test --record` kept beside this file. @throws AppError bad_input */
export function readRecordedFile(sourceFile: string): Recorded[] {
  const file = recordedFileOf(sourceFile)
  if (!existsSync(file)) return []
  return parseRecorded(readFileSync(file, 'utf8'), basename(file))
}

/** @throws AppError input_missing | bad_input */
export function readWrittenSources(file: string): DescribedInFile[] {
  let content: string
  try {
    if (statSync(file).size > sourceFileBytesMax)
      throw new AppError('bad_input', `${file} is larger than ${sourceFileBytesMax} bytes`)
    content = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('input_missing', `The file of sources ${file} cannot be read.`, {
      cause: error,
    })
  }
  return parseSourceFile(content, basename(file))
}

/** Adds and replaces. Sources that the file does not name stay as they are. @returns the names */
export async function putSources(
  sources: readonly DescribedInFile[],
  put: (given: unknown, name: string) => Promise<SourceStatus>,
): Promise<string[]> {
  const names: string[] = []
  for (const { given, spec } of sources) names.push((await put(given, spec.name)).name)
  return names
}
