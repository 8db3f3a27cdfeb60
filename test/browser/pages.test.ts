/** The pages in a real browser: nothing hostile runs, no policy is broken, keys and forms do what they say, with and without scripts. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { documentOf, key, startServer } from '../unit/server/ports.ts'
import type { Started } from '../unit/server/ports.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const isMissing = !existsSync(executablePath) && process.env['CI'] !== 'true'
const skip = isMissing ? `no browser at ${executablePath} (set CHROMIUM)` : false

const attacks = [
  '<script>window.__pwned=1</script>',
  '</title><script>window.__pwned=1</script>',
  '<img src=x onerror=window.__pwned=1>',
  '"><svg onload=window.__pwned=1>',
  "' autofocus onfocus='window.__pwned=1",
  '<meta http-equiv=refresh content="0;url=data:text/html,x">',
]
const documents = [
  documentOf({
    id: 'stone',
    title: 'Stones of the north',
    text: 'Stones travel in ice.',
    group: 'g',
  }),
  documentOf({
    id: 'copy',
    title: 'Stones of the north, again',
    duplicate_of: 'stone',
    group: 'g',
  }),
  documentOf({
    id: 'zh',
    title: '食品安全抽检通告',
    text: '近期组织食品安全监督抽检 stones。',
    lang: 'zh',
  }),
  ...attacks.map((attack, at) =>
    documentOf({ id: `x${at}`, title: `stones ${attack}`, text: attack, lang: attack }),
  ),
  documentOf({ id: 'link', title: 'stones link', url: 'javascript:window.__pwned=1' }),
]

describe('In a browser', { skip }, () => {
  let browser: Browser
  let server: Started
  let empty: Started
  let context: BrowserContext
  /** What the console, the page and the policy complained about. */
  let complaints: string[]
  let isHarmless = (_text: string): boolean => false
  const pictures = mkdtempSync(join(tmpdir(), 'findling-pages-'))

  before(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    server = await startServer(documents)
  })
  after(async () => {
    await browser.close()
    await server.close()
  })
  beforeEach(async () => {
    complaints = []
    isHarmless = () => false
    empty = await startServer()
  })
  afterEach(async () => {
    await context.close()
    await empty.close()
    assert.deepEqual(
      complaints.filter((text) => !isHarmless(text)),
      [],
    )
  })

  const open = async (url: string, options: BrowserContextOptions = {}): Promise<Page> => {
    context = await browser.newContext({ locale: 'en-US', ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(10_000)
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => {
      const { origin } = new URL(request.url())
      if (origin !== server.url && origin !== empty.url) complaints.push(`asks ${request.url()}`)
    })
    await page.goto(url)
    return page
  }
  const pwned = (page: Page) => page.evaluate('window.__pwned')
  const width = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth')

  it('no text of a hostile page runs, in results, stored text or an echoed query', async () => {
    const page = await open(`${server.url}/search?q=stones`)
    assert.equal(await pwned(page), undefined)
    for (const path of [
      ...attacks.map((_, at) => `/cache/x${at}`),
      ...attacks.map((attack) => `/search?q=${encodeURIComponent(`stones ${attack}`)}`),
    ]) {
      await page.goto(server.url + path)
      assert.equal(await pwned(page), undefined, path)
      assert.ok(page.url().startsWith(server.url))
    }
  })

  it('suggestions open, move and are taken by keys alone', async () => {
    const page = await open(server.url)
    const box = page.getByRole('combobox', { name: 'Search words' })
    assert.equal(await box.evaluate('document.activeElement.id'), 'q')
    await box.pressSequentially('sto')
    const list = page.getByRole('listbox')
    await list.waitFor()
    assert.equal(await box.getAttribute('aria-expanded'), 'true')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    assert.equal(await box.getAttribute('aria-activedescendant'), 'suggestion-1')
    await page.screenshot({ path: join(pictures, 'suggestions.png') })
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    assert.equal(await box.getAttribute('aria-activedescendant'), null)
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'hidden' })
    assert.equal(await box.inputValue(), 'sto')
    await page.keyboard.press('ArrowDown')
    await list.waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/search\?q=Stones\+of\+the\+north$/)
  })

  it('half-typed pinyin asks for nothing, the finished word does', async () => {
    const page = await open(server.url)
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/suggest'))
        asked.push(new URL(request.url()).searchParams.get('q') ?? '')
    })
    const client = await context.newCDPSession(page)
    await client.send('Input.imeSetComposition', {
      text: 'shi',
      selectionStart: 3,
      selectionEnd: 3,
    })
    await client.send('Input.imeSetComposition', {
      text: 'shipin',
      selectionStart: 6,
      selectionEnd: 6,
    })
    const answered = page.waitForResponse(/suggest/)
    await client.send('Input.insertText', { text: '食品' })
    await answered
    assert.deepEqual(asked, ['食品'])
    await page.getByRole('option', { name: '食品安全抽检通告' }).waitFor()
  })

  it('keys move through the results, and typing is left alone', async () => {
    const page = await open(`${server.url}/search?q=stones`)
    const current = () =>
      page.evaluate('document.activeElement.closest(".hit")?.querySelector("h2").textContent')
    await page.keyboard.press('j')
    assert.match(String(await current()), /^\s*Stones of the north/)
    await page.keyboard.press('j')
    assert.match(String(await current()), /食品安全/)
    await page.keyboard.press('k')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    await page.keyboard.type('jk?')
    assert.equal(await page.locator('#q').inputValue(), 'jk?')
    await page.keyboard.press('Escape')
  })

  it('the colours that were chosen are there from the first paint of the next page', async () => {
    const page = await open(server.url, { colorScheme: 'light' })
    const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    const light = await ground()
    await page.getByLabel('Colours').selectOption('dark')
    assert.notEqual(await ground(), light)
    await page.goto(`${server.url}/search?q=stones`)
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
    await page.screenshot({ path: join(pictures, 'dark.png') })
  })

  it('the key in the fragment of the first address fills the form and leaves the address', async () => {
    const page = await open(`${empty.url}/#key=${key}`)
    await page.waitForURL(`${empty.url}/`)
    assert.equal(await page.getByLabel('Key', { exact: true }).inputValue(), key)
  })

  it('onboarding leads from an address to live numbers, buttons and the end', async () => {
    const page = await open(empty.url)
    await page.screenshot({ path: join(pictures, 'onboarding.png') })
    await page.getByLabel('Address of a site').fill('example.org/docs/')
    await page.getByLabel('The whole site under this host name').check()
    await page.getByLabel('Key', { exact: true }).fill(key)
    await page.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL(`${empty.url}/admin/jobs/1`)
    assert.deepEqual(empty.crawl.specs[0]?.seeds, ['https://example.org/docs/'])
    assert.equal(empty.crawl.specs[0]?.scope, 'host')
    while (empty.crawl.listeners.size === 0) await new Promise(setImmediate)
    const job = await empty.crawl.job(1)
    empty.crawl.progress(1, { queued: 4321, counts: { ...job!.counts, stored: 1234 } })
    await page.locator('[data-field="queued"]', { hasText: '4,321' }).waitFor()
    assert.equal(await page.locator('[data-field="stored"]').textContent(), '1,234')
    await page.screenshot({ path: join(pictures, 'progress.png') })
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Go on' }).waitFor()
    assert.equal((await empty.crawl.job(1))?.state, 'paused')
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    while (empty.crawl.listeners.size === 0) await new Promise(setImmediate)
    empty.crawl.progress(1, { state: 'done', queued: 0 })
    await page.locator('.state', { hasText: 'Finished' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Pause' }).count(), 0)
  })

  it('a page of another site cannot use the session of a visitor', async () => {
    // The console may say so later than the answer is there.
    isHarmless = (text) => text.includes('attack') || /40[13]/.test(text)
    const page = await open(empty.url)
    await page.getByLabel('Address of a site').fill('example.org')
    await page.getByLabel('Key', { exact: true }).fill(key)
    await page.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL(/jobs\/1$/)
    // The loopback's other name is another site for the browser.
    const foreign = server.url.replace('127.0.0.1', 'localhost')
    await page.route(`${foreign}/attack`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<form method="post" action="${empty.url}/admin/jobs/1/stop"><button>go</button></form>`,
      }),
    )
    await page.goto(`${foreign}/attack`)
    const [response] = await Promise.all([
      page.waitForResponse(/jobs\/1\/stop/),
      page.getByRole('button', { name: 'go' }).click(),
    ])
    assert.ok([401, 403].includes(response.status()))
    assert.equal((await empty.crawl.job(1))?.state, 'running')
  })

  it('everything works without scripts', async () => {
    const page = await open(empty.url, { javaScriptEnabled: false })
    await page.getByLabel('Address of a site').fill('example.org')
    await page.getByLabel('Key', { exact: true }).fill(key)
    await page.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL(/admin\/jobs\/1$/)
    empty.crawl.progress(1, { queued: 777 })
    await page.locator('[data-field="queued"]', { hasText: '777' }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('.state', { hasText: 'Stopped' }).waitFor()
    await page.goto(server.url)
    await page.getByLabel('Search words').fill('stones')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText('1 more with the same').click()
    await page.getByRole('link', { name: 'Stones of the north, again' }).waitFor()
    await page.getByRole('link', { name: '简体中文' }).click()
    await page.getByRole('heading', { name: '“stones”的搜索结果' }).waitFor()
    await page.getByRole('link', { name: '最新' }).click()
    await page.waitForURL(/sort=date/)
  })

  it('no page is wider than a screen of 320 pixels', async () => {
    const page = await open(server.url, { viewport: { width: 320, height: 640 } })
    for (const url of [
      server.url,
      empty.url,
      `${server.url}/search?q=stones`,
      `${server.url}/cache/stone`,
    ]) {
      await page.goto(url)
      assert.ok((await width(page)) <= 320, `${url}: ${await width(page)}`)
    }
    await page.screenshot({ path: join(pictures, 'narrow.png'), fullPage: true })
  })
})
