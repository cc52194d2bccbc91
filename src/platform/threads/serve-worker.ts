import { type MessagePort, parentPort } from 'node:worker_threads';

export interface WorkerJob<Request> {
  id: number;
  request: Request;
  /** Milliseconds since the epoch: the time a job waits in the queue counts. */
  deadlineAt: number;
}

/** Takes a job back; its answer is awaited all the same. */
export interface WorkerCancel {
  cancel: number;
}

/** From the worker: a job has this many milliseconds from now. */
export interface WorkerProlonged {
  prolonged: number;
  ms: number;
}

/** The first message of a worker: it is loaded and takes jobs. */
export const WORKER_READY = 'ready';

/** No more jobs follow: the worker puts its affairs in order and ends. */
export type WorkerClose = 'close';

/**
 * Entry of a thread for work that is large or foreign: it can stall or exhaust this thread and no other.
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
