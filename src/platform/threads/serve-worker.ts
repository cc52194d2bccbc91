import { type MessagePort, parentPort } from 'node:worker_threads';

/** Message to the worker: a job. */
export interface WorkerJob<Request> {
  id: number;
  request: Request;
  /** Milliseconds since the epoch. Includes the time in the queue. */
  deadlineAt: number;
}

/** Message to the worker: cancels a job, which must still be answered. */
export interface WorkerCancel {
  cancel: number;
}

/** Message from the worker: extends the deadline of a job to this many milliseconds from now. */
export interface WorkerProlonged {
  prolonged: number;
  ms: number;
}

/** First message from the worker: it has loaded and accepts jobs. */
export const WORKER_READY = 'ready';

/** Last message to the worker: it should clean up and exit. */
export type WorkerClose = 'close';

/**
 * Entry point of a worker thread, which isolates large or untrusted work that may stall or exhaust its thread.
 * @param listen handles messages with jobs from the port
 */
export function serveWorker(listen: (port: MessagePort) => void): void {
  const port = parentPort;
  if (port === null) {
    return;
  }
  // Libraries may print text from outside parties, which must not reach the log.
  process.stdout.write = () => true;
  process.stderr.write = () => true;
  listen(port);
  // A promise that a library dropped must not end all other jobs.
  process.on('unhandledRejection', () => undefined);
  port.postMessage(WORKER_READY);
}
