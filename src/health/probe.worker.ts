import { createServer, type ServerResponse } from 'node:http';
import { workerData } from 'node:worker_threads';
import { threadId } from '../platform/threads/start-thread.js';
import { serveWorker } from '../platform/threads/serve-worker.js';
import {
  type ProbeAnswer,
  type ProbeThreadMessage,
  type ProbeThreadSettings,
  silenceMs,
} from './probes/main-thread.js';
import { ProbeDesk } from './probes/probe-desk.js';

serveWorker((port) => {
  const { host, port: ownPort, maxStallMs, pulse } = workerData as ProbeThreadSettings;
  const send = (message: ProbeThreadMessage): void => port.postMessage(message);
  const desk = new ProbeDesk(
    maxStallMs,
    () => silenceMs(pulse),
    (ask) => send({ ask }),
  );
  port.on('message', (answer: ProbeAnswer) => desk.learn(answer));
  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    const { status, type, body } = await desk.answer(path);
    // A kept-alive connection would pin the client to this replica even while it is stopping.
    response.writeHead(status, { 'content-type': type, connection: 'close' }).end(body);
  };
  const server = createServer(({ method, url = '' }, response) => {
    void answer(method === 'GET' || method === 'HEAD' ? url : '', response);
  });
  server.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => send({ failed: code }));
  server.listen(ownPort, host, () => send({ listening: true, thread: threadId() }));
});
