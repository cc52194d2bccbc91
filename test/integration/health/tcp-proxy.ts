import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What becomes of bytes: passed on, cut off, or swallowed without a word. */
export type ProxyMode = 'open' | 'down' | 'silent';

/** A TCP proxy between the service and a party it depends on, that can fail as networks do. */
export class TcpProxy {
  private readonly pairs = new Set<[Socket, Socket]>();
  private mode: ProxyMode = 'open';
  private trigger: string | undefined;
  private readonly server = createServer((client) => this.accept(client));

  private constructor(private readonly target: { host: string; port: number }) {}

  /** @param targetUrl where connections end, any scheme with host and port */
  static async start(targetUrl: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(targetUrl);
    const proxy = new TcpProxy({ host: hostname, port: Number(port) });
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** The target's URL with the proxy's address in place of its own. */
  through(targetUrl: string): string {
    const url = new URL(targetUrl);
    url.host = `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return url.href;
  }

  /** Changes what becomes of open connections and new ones. */
  set(mode: ProxyMode): void {
    this.mode = mode;
    for (const pair of this.pairs) {
      this.apply(pair);
    }
  }

  /** Swallows everything as soon as somebody sends this text, which is not passed on either. */
  silenceAt(text: string): void {
    this.trigger = text;
  }

  /** Passes new connections on and leaves the open ones as they are, without ever looking at them again. */
  forget(): void {
    this.mode = 'open';
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.set('down');
    await closed;
  }

  private accept(client: Socket): void {
    const pair: [Socket, Socket] = [client, connect(this.target)];
    this.pairs.add(pair);
    const [a, b] = pair;
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      from.on('data', (bytes) => this.pass(bytes, to));
      from.on('error', () => undefined);
      from.on('close', () => {
        to.destroy();
        this.pairs.delete(pair);
      });
    }
    this.apply(pair);
  }

  private pass(bytes: Buffer, to: Socket): void {
    if (this.trigger !== undefined && bytes.includes(this.trigger)) {
      this.trigger = undefined;
      this.set('silent');
    } else {
      to.write(bytes);
    }
  }

  private apply(pair: [Socket, Socket]): void {
    for (const socket of pair) {
      switch (this.mode) {
        case 'open':
          socket.resume();
          break;
        case 'silent':
          socket.pause();
          break;
        case 'down':
          socket.destroy();
          break;
      }
    }
  }
}
