/** One job for the worker. */
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
