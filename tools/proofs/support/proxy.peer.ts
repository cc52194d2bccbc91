import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TlsCertificate } from '../../../test/support/peers/certificates.js';

/** Behavior of a proxy, which can be changed at any time. */
export interface ProxyScript {
  /** Required `user:password`. */
  credentials?: string;
  /** Responds instead of opening a tunnel. */
  answer?: (socket: Socket, authority: string) => void;
  /** Addresses of host names that the proxy resolves itself. */
  names?: Record<string, string>;
}

/** An egress proxy (HTTP CONNECT) on a free loopback port. */
export interface ProxyPeer {
  readonly url: string;
  readonly script: ProxyScript;
  /** Requested authorities, in order. */
  readonly asked: string[];
  openSockets(): number;
  close(): Promise<void>;
}

/**
 * Starts a proxy.
 * @param certificate makes it an https proxy
 */
export async function startProxy(script: ProxyScript = {}, certificate?: TlsCertificate): Promise<ProxyPeer> {
  const server = certificate === undefined ? createHttpServer() : createHttpsServer({ ...certificate });
  const sockets = new Set<Socket>();
  const asked: string[] = [];
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.on('connect', (request, socket: Socket, head: Buffer) => {
    const authority = request.url ?? '';
    const given = request.headers['proxy-authorization'];
    asked.push(authority);
    socket.on('error', () => undefined);
    const { credentials, answer, names = {} } = script;
    if (credentials !== undefined && given !== `Basic ${Buffer.from(credentials).toString('base64')}`) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    if (answer !== undefined) {
      // Without reading the input the end of the connection would go unnoticed.
      socket.resume().on('end', () => socket.destroy());
      answer(socket, authority);
      return;
    }
    const { hostname, port } = new URL(`http://${authority}`);
    const target = connect(Number(port === '' ? 80 : port), names[hostname] ?? hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.write(head);
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => target.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const scheme = certificate === undefined ? 'http' : 'https';
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    script,
    asked,
    openSockets: () => sockets.size,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      sockets.forEach((socket) => socket.destroy());
      await closed;
    },
  };
}
