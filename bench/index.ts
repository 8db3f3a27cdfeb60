/** What indexing costs after tokenising: documents of a data directory through the writer, CPU ms and bytes a document. `npm run bench -- index DATA [N]`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { textTables } from '../src/assets.ts'
import { createIndexWriter } from '../src/search/flex.ts'
import type { IndexedDocument } from '../src/search/index.ts'
import { openReader } from '../src/store/reader.ts'
import { openStore } from '../src/store/store.ts'
import { loadTextTables } from '../src/text/tables.ts'
import { createAnalyzer } from '../src/text/tokenize.ts'

const batchDocuments = 100

function analysed(data: string, most: number): IndexedDocument[] {
  const analyzer = createAnalyzer(loadTextTables(textTables()))
  const reader = openReader(join(data, 'findling.db'))
  const documents: IndexedDocument[] = []
  for (let last = 0; documents.length < most;) {
    const texts = reader.documentsAfter(last, 200)
    if (texts.length === 0) break
    last = texts.at(-1)?.docno ?? last
    documents.push(...texts.map((text) => ({ docno: text.docno, ...analyzer.document(text) })))
  }
  reader.close()
  return documents.slice(0, most)
}

const cpuMs = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

function main([data, most = '5000']: readonly string[]): void {
  if (data === undefined) throw new Error('bench index DATA [N]: a data directory is wanted')
  const documents = analysed(data, Number(most))
  const directory = mkdtempSync(join(tmpdir(), 'findling-bench-'))
  const store = openStore(join(directory, 'findling.db'))
  const writer = createIndexWriter(store.db)
  const start = process.cpuUsage()
  let applyMs = 0
  let workMs = 0
  for (let i = 0; i < documents.length; i += batchDocuments) {
    const before = process.cpuUsage()
    writer.apply(documents.slice(i, i + batchDocuments))
    const between = process.cpuUsage()
    applyMs += cpuMs(before)
    while (writer.work(25, false));
    workMs += cpuMs(between)
  }
  while (writer.pendingBytes() > 0) writer.work(25, true)
  const totalMs = cpuMs(start)
  const postings = documents.reduce((sum, { terms }) => sum + terms.length, 0)
  const bytes = store.db.prepare<{ n: number }>('SELECT sum(length(b)) AS n FROM leaf').value() ?? 0
  store.close()
  rmSync(directory, { recursive: true })
  const n = documents.length
  const result = {
    documents: n,
    termsADocument: Math.round(postings / n),
    cpuMsADocument: totalMs / n,
    applyMs: applyMs / n,
    mergeMs: workMs / n,
    indexBytesADocument: Math.round(bytes / n),
    bytesAPosting: bytes / postings,
  }
  console.table(result)
  console.log(`RESULT ${JSON.stringify(result)}`)
}

main(process.argv.slice(2))
