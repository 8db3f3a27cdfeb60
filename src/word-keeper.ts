/** Keeps word lists in force: watches their folder, hands them to parsers and search, and judges what is stored anew when they change. */
import type { MessagePort } from 'node:worker_threads'
import type { Committed } from './crawl/commit.ts'
import type { Duplicates } from './crawl/duplicates.ts'
import { rejudge } from './crawl/rejudge.ts'
import type { Log } from './lib/log.ts'
import { sendEvent } from './lib/rpc.ts'
import { isDiskFull } from './lib/sqlite.ts'
import type { WordsInForce } from './parser.ts'
import type { WordTally } from './store/records.ts'
import type { Store } from './store/store.ts'
import { packWords, type WordList } from './text/word-list.ts'
import { openWords, type WordMatcher } from './text/word-match.ts'
import { normalUnits } from './text/word-symbols.ts'
import { readWordFolder, stateOfWordFolder } from './word-folder.ts'

export type WordKeeperTools = {
  store: Store
  duplicates: Duplicates
  folder: string
  /** What a pass changed is to be indexed. */
  onChanged: (docnos: readonly number[]) => void
  log: Log
}

export type WordsStatus = {
  lists: { name: string; policy: string; words: number; allowed: number }[]
  problems: string[]
  /** Stored pages are judged by the lists in force. */
  applied: boolean
  /** Pages judged and changed since the last change of the lists. */
  judged: number
  changed: number
  words: WordTally[]
}

const watchMs = 3_000
const sliceMs = 25
/** Between two slices: fetching and answering come first. */
const restMs = 10
const documentsAtOnce = 20
const retryMs = 5_000
const wordsShown = 200

export class WordKeeper {
  readonly #tools: WordKeeperTools
  #inForce: WordsInForce = { version: 0, packed: null }
  #matcher: WordMatcher | null = null
  #lists: WordList[] = []
  #problems: string[] = []
  #digest = ''
  #state = ''
  #search: MessagePort | null = null
  /** The table is made once, and only where there is a list. */
  #units: Uint16Array | null = null
  #watch: NodeJS.Timeout | null = null
  #turn: NodeJS.Timeout | null = null
  #judged = 0
  #changed = 0
  #isClosed = false

  constructor(tools: WordKeeperTools) {
    this.#tools = tools
    this.#state = stateOfWordFolder(tools.folder)
    this.#read()
  }

  /** Goes on with a pass that the process before left, and watches the folder. */
  begin(): void {
    if (!this.#isApplied()) this.#schedule(0)
    this.#watch = setInterval(() => this.look(), watchMs).unref()
  }

  inForce(): WordsInForce {
    return this.#inForce
  }

  link(search: MessagePort): void {
    this.#search = search
    this.#tell()
  }

  /** Takes over what changed in the folder. */
  look(): void {
    const state = stateOfWordFolder(this.#tools.folder)
    if (state === this.#state) return
    this.#state = state
    const before = this.#digest
    this.#read()
    if (this.#digest === before) return
    this.#tell()
    this.#judged = 0
    this.#changed = 0
    this.#schedule(0)
  }

  /** After a commit: pages that were parsed under older lists are judged once more. */
  committed({ firstDocno, wordsVersion }: Committed): void {
    if (wordsVersion >= this.#inForce.version || !this.#isApplied()) return
    const { store } = this.#tools
    store.transaction(() => {
      store.meta.set('words_applied', '?')
      store.meta.set('words_target', this.#digest)
      store.meta.set('words_cursor', firstDocno - 1)
    })
    this.#schedule(0)
  }

  status(): WordsStatus {
    return {
      lists: this.#lists.map(({ name, policy, words, allowed }) => ({
        name,
        policy,
        words: words.length,
        allowed: allowed.length,
      })),
      problems: this.#problems,
      applied: this.#isApplied(),
      judged: this.#judged,
      changed: this.#changed,
      words: this.#tools.store.wordTally(wordsShown),
    }
  }

  close(): void {
    this.#isClosed = true
    if (this.#watch !== null) clearInterval(this.#watch)
    if (this.#turn !== null) clearTimeout(this.#turn)
  }

  #read(): void {
    const { folder, log } = this.#tools
    const { lists, problems, digest } = readWordFolder(folder, () => this.#table())
    for (const problem of problems) log('warn', `word list: ${problem}`)
    this.#problems = problems
    if (digest === this.#digest) return
    this.#lists = lists
    this.#digest = digest
    const packed = lists.length === 0 ? null : packWords(lists, this.#table())
    this.#matcher = packed === null ? null : openWords(packed)
    this.#inForce = { version: this.#inForce.version + 1, packed }
    const words = lists.reduce((sum, list) => sum + list.words.length, 0)
    log('info', 'word lists in force', { lists: lists.length, words })
  }

  #table(): Uint16Array {
    return (this.#units ??= normalUnits())
  }

  #tell(): void {
    if (this.#search !== null) sendEvent(this.#search, 'words', this.#inForce.packed)
  }

  #isApplied(): boolean {
    return (this.#tools.store.meta.get('words_applied') ?? '') === this.#digest
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed) return
    if (this.#turn !== null) clearTimeout(this.#turn)
    this.#turn = setTimeout(() => {
      this.#turn = null
      if (this.#isClosed) return
      try {
        if (this.#slice()) this.#schedule(restMs)
      } catch (error) {
        if (!isDiskFull(error)) throw error
        this.#tools.duplicates.rolledBack()
        this.#tools.log('warn', 'no room to apply the word lists; tried again later')
        this.#schedule(retryMs)
      }
    }, delayMs)
  }

  /** True while there is more to judge. Each step is one transaction that moves the watermark with what it changed. */
  #slice(): boolean {
    const { store, log } = this.#tools
    const untilMs = performance.now() + sliceMs
    this.#aim()
    while (performance.now() < untilMs) {
      const cursor = Number(store.meta.get('words_cursor') ?? 0)
      const documents = store.wholeDocumentsAfter(cursor, documentsAtOnce)
      if (documents.length === 0) {
        store.transaction(() => store.meta.set('words_applied', this.#digest))
        log('info', 'word lists applied', { judged: this.#judged, changed: this.#changed })
        return false
      }
      const { promoted, removed, judged, changed } = rejudge(
        documents,
        this.#matcher,
        this.#tools,
        untilMs,
      )
      this.#judged += judged
      this.#changed += changed
      if (removed + promoted.length > 0) this.#tools.onChanged(promoted)
    }
    return true
  }

  /** A pass for other lists than the last one begins at the first document. */
  #aim(): void {
    const { store } = this.#tools
    if (store.meta.get('words_target') === this.#digest && !this.#isApplied()) return
    store.transaction(() => {
      store.forgetFilteredValidators()
      store.meta.set('words_applied', '?')
      store.meta.set('words_target', this.#digest)
      store.meta.set('words_cursor', 0)
    })
  }
}
