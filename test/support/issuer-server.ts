import { createServer, type RequestListener, type Server } from 'node:http';
import { freePort } from './databases/free-port.js';

/** An HTTP server on a loopback port that can go away and come back on the same port. */
export class IssuerServer {
  private server: Server | undefined;
  private port: number | undefined;
  handler: RequestListener = (_request, response) => response.writeHead(404).end();

  get url(): string {
    return `http://127.0.0.1:${this.port ?? 0}`;
  }

  /** Listens, the first time on a free port, later on the same one. */
  async start(): Promise<void> {
    this.port ??= await freePort();
    const server = createServer((request, response) => this.handler(request, response));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.port, '127.0.0.1', resolve);
    });
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
