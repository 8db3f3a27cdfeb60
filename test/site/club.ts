/** A small site for members: its pages want a key in a header and the cookie of a login by form; everybody else is sent to the form. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Club = {
  url: string
  /** Method and path of each request, and whether it came with key and cookie. */
  asked: { what: string; isMember: boolean; userAgent: string }[]
  /** What must be shown nowhere. */
  secrets: { key: string; password: string; cookie: string }
  /** The pages of a member. */
  pages: string[]
  close(): Promise<void>
}

const rooms = 12
const html = (title: string, body: string): string =>
  `<!doctype html><html lang="zh"><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`
const prose = (room: number): string =>
  Array.from(
    { length: 8 },
    (_, i) => `<p>会员${room}室的第${i + 1}段，${room * 7919 + i}。</p>`,
  ).join('')

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return new URLSearchParams(Buffer.concat(chunks).toString())
}

export async function startClub(): Promise<Club> {
  const secrets = { key: 'key-4711-hush', password: 'p4ss-word-hush', cookie: 'sid-0815-hush' }
  const asked: Club['asked'] = []
  let token = 0
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '/'
    const { cookie = '', 'x-club-key': key, 'user-agent': userAgent = '' } = request.headers
    const isMember = key === secrets.key && cookie.includes(`sid=${secrets.cookie}`)
    asked.push({ what: `${request.method} ${path}`, isMember, userAgent })
    const send = (body: string): void => {
      response.setHeader('content-type', 'text/html; charset=utf-8').end(body)
    }
    const lead = (to: string): void => void response.writeHead(302, { location: to }).end()
    if (path === '/robots.txt') response.end('User-agent: *\nDisallow: /logout\n')
    else if (path.startsWith('/login') && request.method === 'GET') {
      token++
      response.setHeader('set-cookie', `token=${token}; Path=/; HttpOnly`)
      const hidden = `<input type="hidden" name="csrf" value="${token}">`
      send(
        html(
          '登录',
          `<form action="/search"><input name="q"></form>
           <form method="post" action="/session">${hidden}<input name="user"><input type="password" name="password"></form>`,
        ),
      )
    } else if (path === '/session' && request.method === 'POST') {
      const form = await formOf(request)
      const isRight =
        form.get('csrf') === `${token}` &&
        cookie.includes(`token=${token}`) &&
        form.get('user') === 'reader' &&
        form.get('password') === secrets.password
      if (isRight)
        response.setHeader('set-cookie', `sid=${secrets.cookie}; Path=/; HttpOnly; SameSite=Lax`)
      lead(isRight ? '/' : '/login?wrong')
    } else if (!isMember) lead(`/login?from=${encodeURIComponent(path)}`)
    else if (path === '/') {
      const links = Array.from(
        { length: rooms },
        (_, i) => `<a href="/room/${i + 1}">${i + 1}室</a>`,
      )
      send(html('会员', `<h1>欢迎</h1>${prose(0)}${links.join('')}<a href="/logout">退出</a>`))
    } else if (/^\/room\/\d+$/.test(path)) {
      const room = Number(path.slice('/room/'.length))
      send(html(`${room}室`, `<h1>${room}室</h1>${prose(room)}`))
    } else response.writeHead(404).end()
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const paths = ['/', ...Array.from({ length: rooms }, (_, i) => `/room/${i + 1}`)]
  return {
    url,
    asked,
    secrets,
    pages: paths.map((path) => url + path),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
