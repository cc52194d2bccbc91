import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server on a loopback port that can go away and come back on the same port. */
export class IssuerServer {
  private server: Server | undefined;
  private port = 0;
  handler: RequestListener = (_request, response) => response.writeHead(404).end();

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Listens, the first time on a free port, later on the same one. */
  async start(): Promise<void> {
    const server = createServer((request, response) => this.handler(request, response));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.port, '127.0.0.1', resolve);
    });
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  /** Stops listening and cuts every connection. Does nothing when it is not running. */
  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (server) {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    }
  }
}
