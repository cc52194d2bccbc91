import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Local server that replaces a system. */
export interface StubServer {
  /** Address without a trailing slash. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Received request. */
export interface StubRequest {
  method: string;
  /** Path and query. */
  target: string;
  headers: Record<string, string>;
  body: string;
}

/** Response to send. */
export interface StubAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** Starts a server on a free port of 127.0.0.1. Errors of `answer` become status 500. */
export async function startStubServer(
  answer: (request: StubRequest) => StubAnswer | Promise<StubAnswer>,
): Promise<StubServer> {
  const server = createServer((request, response) => {
    void reply(request, response, answer);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      const closed = new Promise((resolve) => {
        server.close(resolve);
      });
      server.closeAllConnections();
      await closed;
    },
  };
}

async function reply(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: StubRequest) => StubAnswer | Promise<StubAnswer>,
): Promise<void> {
  try {
    const { method = '', url: target = '' } = request;
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const result = await answer({ method, target, headers, body: await textOf(request) });
    response.writeHead(result.status, result.headers).end(result.body);
  } catch (error) {
    response.writeHead(500, { 'content-type': 'text/plain' }).end(`The stub failed: ${String(error)}`);
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
