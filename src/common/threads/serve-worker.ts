import { type MessagePort, parentPort } from 'node:worker_threads';

import { WORKER_READY } from './worker-job.js';

/**
 * Entry of a thread for work that is large or foreign: it can stall or exhaust this thread and no other. Does
 * nothing in the main thread.
 * @param listen takes the jobs that come through the port
 */
export function serveWorker(listen: (port: MessagePort) => void): void {
  const port = parentPort;
  if (port === null) {
    return;
  }
  // Libraries print what outside parties say; none of it may reach our log.
  process.stdout.write = () => true;
  process.stderr.write = () => true;
  listen(port);
  // A library can drop a promise that nobody waits for; ending every other job for one would be worse.
  process.on('unhandledRejection', () => undefined);
  port.postMessage(WORKER_READY);
}
