/** The sites of docs/SOURCES.md as small local webs: a news site with lists, a problem library whose list is JSON, a shop that repeats its items. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ExampleSite = { url: string; asked: string[]; close(): Promise<void> }

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="zh"><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`
const prose = (topic: string): string =>
  Array.from(
    { length: 12 },
    (_, i) => `<p>${topic}的第${i + 1}段，说明${topic}的情况，内容各不相同${i * 7919}。</p>`,
  ).join('')

export const articles = 9
const perPage = 4

function news(path: string): string | null {
  const number = path === '/' ? 1 : Number(/^\/page\/(\d+)$/.exec(path)?.[1])
  if (number >= 1 && number <= Math.ceil(articles / perPage)) {
    const first = (number - 1) * perPage + 1
    const ids = Array.from({ length: perPage }, (_, i) => first + i).filter((id) => id <= articles)
    const items = ids.map((id) => `<h2><a href="/article/${id}.html">新闻${id}</a></h2>`).join('')
    const next = ids.includes(articles)
      ? ''
      : `<a class="next" href="/page/${number + 1}">下一页</a>`
    return page(
      `第${number}页`,
      `<a href="/login">登录</a><a href="/about">关于</a>${items}${next}`,
    )
  }
  const id = Number(/^\/article\/(\d+)\.html$/.exec(path)?.[1])
  if (!(id >= 1 && id <= articles)) return null
  // The site has changed under the rule: only the first article still shows its views.
  const views = id === 1 ? '<span class="views">1.2万次阅读</span>' : ''
  return page(
    `新闻${id}`,
    `<p class="crumbs"><a>国内</a><a>交通</a></p><h1>新闻${id}</h1><p class="info">2024年5月${id + 2}日 来源：晨报</p>${views}
     <article><div class="body">${prose(`大桥${id}`)}</div></article><a href="/tag/x">标签</a><a href="/about">关于</a>`,
  )
}

export const problems = 5

function library(path: string, query: string): { type: string; text: string } | null {
  const html = (text: string) => ({ type: 'text/html; charset=utf-8', text })
  if (path === '/api/problems') {
    const number = Number(new URLSearchParams(query).get('page'))
    const ids = [number * 2 - 1, number * 2].filter((id) => id <= problems)
    const next = ids.includes(problems) ? null : `/api/problems?page=${number + 1}`
    const data = { items: ids.map((id) => ({ id, title: `题目${id}` })), next }
    return { type: 'application/json', text: JSON.stringify({ data }) }
  }
  const id = Number(/^\/problem\/(\d+)$/.exec(path)?.[1])
  if (id >= 1 && id <= problems)
    return html(
      page(
        `题库`,
        `<a href="/user/1">用户</a><p class="slow">${'a'.repeat(40)}!</p><h1>题目${id}：求和</h1><div class="statement">${prose(`求和${id}`)}<script>x()</script></div>
         <dl><dt>难度</dt><dd>${id * 100}</dd></dl><ul class="tags"><li>循环</li><li>数学</li></ul>
         <p class="points"><a href="/point/1">循环</a><a href="/point/2">for</a></p>`,
      ),
    )
  const point = /^\/point\/([12])$/.exec(path)?.[1]
  if (point === undefined) return null
  const crumbs = `<p class="crumbs">程序设计 &gt; 循环${point === '2' ? ' &gt; for' : ''}</p>`
  return html(
    page(`知识点${point}`, `${crumbs}${prose(`知识点${point}`)}<a href="/user/2">用户</a>`),
  )
}

export const departments = ['kitchen', 'garden', 'sale']

/** Items 1 and 2 in each department, among other things; on sale the second has another price. */
function shop(path: string): string | null {
  const items = departments.flatMap((name) => [`/${name}/item/1`, `/${name}/item/2`])
  if (path === '/')
    return page('Shop', items.map((item) => `<a href="${item}">${item}</a>`).join(' '))
  const at = items.indexOf(path)
  if (at < 0) return null
  const [department = '', , id = ''] = path.slice(1).split('/')
  const price = id === '2' && department === 'sale' ? 15 : Number(id) * 10
  return page(
    `${department} - Shop`,
    `<article><h1>Kettle ${id}</h1><p class="description">Boils ${id} litres.</p><p class="price">${price}.00</p>
     ${prose(`${department}${at}`)}</article><p>Recommended: only${department}${id}</p>`,
  )
}

export async function startExample(name: 'news' | 'problems' | 'shop'): Promise<ExampleSite> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?')
    asked.push(request.url ?? '')
    const text = name === 'news' ? news(path) : name === 'shop' ? shop(path) : null
    const found =
      name === 'problems'
        ? library(path, query)
        : text === null
          ? null
          : { type: 'text/html; charset=utf-8', text }
    response.writeHead(found === null ? 404 : 200, { 'content-type': found?.type ?? 'text/plain' })
    response.end(found?.text ?? 'none')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () => new Promise((closed) => server.close(() => closed())),
  }
}
