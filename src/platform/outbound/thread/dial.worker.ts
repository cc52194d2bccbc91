import type { MessagePort } from 'node:worker_threads';
import { serveWorker, type WorkerJob } from '../../threads/serve-worker.js';
import { outboundClient } from '../configured-outbound.js';
import { dial } from '../dial.js';
import type { DialJob, DialledResponse, DialMessage } from '../outbound.types.js';
import { toOutboundError } from '../outbound.error.js';
import type { OutboundClient } from '../outbound.client.js';

/** Sends requests over TLS for the main thread, see `DialThread`. */
serveWorker((port) => {
  const clients = new Map<string, OutboundClient>();
  const clientOf = ({ settings }: DialJob): OutboundClient => {
    const key = JSON.stringify(settings);
    const client = clients.get(key) ?? outboundClient(settings);
    clients.set(key, client);
    return client;
  };
  port.on('message', ({ id, request: job }: WorkerJob<DialJob>) => {
    void serve(clientOf(job), job).finally(() => port.postMessage({ id }));
  });
});

/** Runs one job until the body has been sent or the port is closed. */
async function serve(client: OutboundClient, { port, tls, url, ...request }: DialJob): Promise<void> {
  const sockets = client.keepSockets(tls);
  const controller = new AbortController();
  port.once('close', () => controller.abort());
  try {
    const response = await dial(sockets, new URL(url), request, controller.signal);
    send(port, { status: response.status, headers: [...response.headers] });
    await sendBody(port, response, controller.signal);
  } catch (error) {
    send(port, { failure: toOutboundError(error).failure });
  } finally {
    await sockets.close();
  }
}

/** Sends one chunk for each request of the main thread, and reads nothing ahead. */
async function sendBody(port: MessagePort, { body }: DialledResponse, signal: AbortSignal): Promise<void> {
  const chunks = body[Symbol.asyncIterator]();
  for (;;) {
    await nextRequest(port, signal);
    const { done, value } = await chunks.next();
    if (done === true) {
      send(port, { chunk: undefined });
      return;
    }
    // Copied because chunks may share a buffer, and a transfer moves the whole buffer.
    const chunk = Uint8Array.from(value);
    port.postMessage({ chunk } satisfies DialMessage, [chunk.buffer]);
  }
}

function nextRequest(port: MessagePort, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    port.once('message', resolve);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

function send(port: MessagePort, message: DialMessage): void {
  port.postMessage(message);
}
