/** The executable of this machine crawls and searches. The end-to-end tests say the rest: BIN=dist/findling-linux-x64 npm run test:e2e. */
import { binary, notBuilt } from './binary.ts'
import { crawlsAndSearches } from './crawl.suite.ts'

crawlsAndSearches(binary, notBuilt)
