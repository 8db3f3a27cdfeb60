/** Servers on loopback for tests of the network side: what they say is raw bytes where HTTP is broken on purpose. */
import { createServer, type RequestListener } from 'node:http'
import {
  createServer as createRawServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net'

export type Web = {
  origin: string
  port: number
  /** Connections since the start. */
  connections(): number
  close(): Promise<void>
}

export const serve = (answer: RequestListener): Promise<Web> => listen(createServer(answer))

/** `answer` gets each socket when its first bytes are in, and again for each further piece. */
export const serveRaw = (answer: (socket: Socket, request: string) => void): Promise<Web> =>
  listen(
    createRawServer((socket) =>
      socket.on('data', (bytes) => answer(socket, bytes.toString('latin1'))),
    ),
  )

function listen(server: Server): Promise<Web> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    // A client that hangs up in the middle is what some tests are about.
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      done({
        origin: `http://127.0.0.1:${port}`,
        port,
        connections: () => connections,
        close: () =>
          new Promise((closed) => {
            for (const socket of sockets) socket.destroy()
            server.close(() => closed())
          }),
      })
    })
  })
}
