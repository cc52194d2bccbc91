import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** How the proxy treats traffic: forwards it, closes connections, or silently stops forwarding. */
export type ProxyMode = 'open' | 'down' | 'silent';

/** TCP proxy between the service and a dependency, which simulates network failures. */
export class TcpProxy {
  private readonly pairs = new Set<[Socket, Socket]>();
  private mode: ProxyMode = 'open';
  private trigger: string | undefined;
  private readonly server = createServer((client) => this.accept(client));

  private constructor(private readonly target: { host: string; port: number }) {}

  /** @param targetUrl address to connect to: any scheme with host and port */
  static async start(targetUrl: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(targetUrl);
    const proxy = new TcpProxy({ host: hostname, port: Number(port) });
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Returns the target's URL with the address of the proxy. */
  through(targetUrl: string): string {
    const url = new URL(targetUrl);
    url.host = `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return url.href;
  }

  /** Sets the mode of open and new connections. */
  set(mode: ProxyMode): void {
    this.mode = mode;
    for (const pair of this.pairs) {
      this.apply(pair);
    }
  }

  /** Switches to silent mode when either side sends this text, which is not forwarded either. */
  silenceAt(text: string): void {
    this.trigger = text;
  }

  /** Forwards new connections and leaves open ones in their current state. */
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
