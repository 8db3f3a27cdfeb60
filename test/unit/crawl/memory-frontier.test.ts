/** The contract holds for the frontier in memory: what the suite asks is no property of SQLite. */
import { frontierSuite } from '../../suites/frontier.suite.ts'
import { openMemoryFrontier } from './memory-frontier.ts'

frontierSuite('MemoryFrontier', (options) => openMemoryFrontier(options))
