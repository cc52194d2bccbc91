import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { TlsCertificate } from './certificates.js';

const CLOSE_MS = 30_000;
const PAUSE_MS = 10;

/** An external server for tests, on a free loopback port. */
export interface Peer {
  /** Address of its endpoint; see the function that starts it. */
  url: string;
  /** Returns the number of open connections, as the peer sees them. */
  openSockets(): number;
  /** Stops the peer and closes all connections. */
  close(): Promise<void>;
  /** Listens again on the same port after `close`. */
  reopen(): Promise<void>;
}

/** Starts an HTTP peer that handles every request with one listener. */
export function startHttpPeer(listener: RequestListener, path = '/'): Promise<Peer> {
  // The peer never closes connections, so that tests notice when the client leaves one open.
  const server = createHttpServer({ keepAlive: true }, listener);
  server.keepAliveTimeout = 0;
  server.headersTimeout = 0;
  server.requestTimeout = 0;
  return startPeer(server, 'http', path);
}

/** Starts an HTTPS peer with this certificate. */
export function startHttpsPeer(certificate: TlsCertificate, listener: RequestListener): Promise<Peer> {
  return startPeer(createHttpsServer({ ...certificate }, listener), 'https', '/');
}

/** Starts a peer with raw TCP connections, for faults that an HTTP server cannot produce. */
export function startTcpPeer(
  onConnection: (socket: Socket) => void,
  scheme: 'http' | 'https',
): Promise<Peer> {
  return startPeer(createTcpServer(onConnection), scheme, '/');
}

async function startPeer(server: Server, scheme: string, path: string): Promise<Peer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}${path}`,
    openSockets: () => sockets.size,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      sockets.forEach((socket) => socket.destroy());
      await closed;
    },
    reopen: () => listen(port),
  };
}

/** Waits until all connections to these peers are closed. Throws if some stay open. */
export async function noSocketsLeft(...peers: Pick<Peer, 'openSockets'>[]): Promise<void> {
  const count = (): number => peers.reduce((sum, peer) => sum + peer.openSockets(), 0);
  for (let waited = 0; count() > 0 && waited < CLOSE_MS; waited += PAUSE_MS) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  if (count() > 0) {
    throw new Error(`${count()} sockets are still open`);
  }
}

/** Reads a request body as text. */
export async function readBody(request: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** A response of {@link pages}. A body that is not a string is sent as JSON. */
export interface Page {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Answers requests for these paths, ignoring the query, and 404 for all others. `byPath` may change at any time. */
export function pages(byPath: Record<string, Page>): RequestListener {
  return (request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const { status = 200, headers, body = '' } = byPath[path] ?? { status: 404 };
    const isText = typeof body === 'string';
    const type = isText ? 'text/plain' : 'application/json';
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(isText ? body : JSON.stringify(body));
  };
}
