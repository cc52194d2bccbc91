import type { MessagePort } from 'node:worker_threads';
import { serveWorker, type WorkerJob } from '../../threads/serve-worker.js';
import { outboundClient } from '../configured-outbound.js';
import { dial } from '../dial.js';
import type { DialJob, DialledResponse, DialMessage } from '../outbound.types.js';
import { toOutboundError } from '../outbound.error.js';
import type { OutboundClient } from '../outbound.client.js';

/** Sends the requests of the main thread over TLS: a handshake takes as long as the other side wants, and nobody can interrupt it. */
serveWorker((port) => {
  const clients = new Map<string, OutboundClient>();
  const clientOf = ({ settings }: DialJob): OutboundClient => {
    const key = JSON.stringify(settings);
    const client = clients.get(key) ?? outboundClient(settings);
    clients.set(key, client);
    return client;
  };
  port.on('message', ({ id, request: job }: WorkerJob<DialJob>) => {
    void answer(clientOf(job), job).finally(() => port.postMessage({ id }));
  });
});

/** Ends when the body has been read, or when the other side of the port is closed. */
async function answer(client: OutboundClient, { port, tls, url, ...request }: DialJob): Promise<void> {
  const sockets = client.keepSockets(tls);
  const given = new AbortController();
  port.once('close', () => given.abort());
  try {
    const response = await dial(sockets, new URL(url), request, given.signal);
    say(port, { status: response.status, headers: [...response.headers] });
    await sendBody(port, response, given.signal);
  } catch (error) {
    say(port, { failure: toOutboundError(error).failure });
  } finally {
    await sockets.close();
  }
}

/** Reads no chunk that nobody has asked for. */
async function sendBody(port: MessagePort, { body }: DialledResponse, given: AbortSignal): Promise<void> {
  const chunks = body[Symbol.asyncIterator]();
  for (;;) {
    await asked(port, given);
    const { done, value } = await chunks.next();
    if (done === true) {
      say(port, { chunk: undefined });
      return;
    }
    // A chunk may lie in memory that others lie in, too.
    const chunk = Uint8Array.from(value);
    port.postMessage({ chunk } satisfies DialMessage, [chunk.buffer]);
  }
}

function asked(port: MessagePort, given: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    given.throwIfAborted();
    port.once('message', resolve);
    given.addEventListener('abort', () => reject(given.reason as Error), { once: true });
  });
}

function say(port: MessagePort, message: DialMessage): void {
  port.postMessage(message);
}
