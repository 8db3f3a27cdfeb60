/** `npm run dev`: the test web and the program crawling it, until Ctrl-C. Data goes to a temporary folder that is removed at the end. */
import { makeDirectory, start } from '../test/e2e/program.ts'
import { startSite } from '../test/site/site.ts'

const site = await startSite({ seed: 1, pages: 300 })
const directory = makeDirectory()
const listen = process.argv[2] ?? '127.0.0.1:8080'
const args = [
  'serve',
  '--listen',
  listen,
  '--data',
  directory.path,
  '--allow-private',
  '127.0.0.0/8',
]
const program = start([...args, '--crawl', site.url])
program.child.stderr?.pipe(process.stderr)
console.log(`The test web is ${site.url}, the search page http://${listen}/`)
process.on('SIGINT', () => program.child.kill('SIGINT'))
process.on('SIGTERM', () => program.child.kill('SIGTERM'))
process.exitCode = (await program.ended).code ?? 1
await site.close()
directory.remove()
