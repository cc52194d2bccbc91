import { once } from 'node:events';
import type { Transferable, Worker } from 'node:worker_threads';

import { within } from '../concurrency/deadline.js';
import { startThread, type ThreadOptions, yieldToMainThread } from './start-thread.js';
import {
  WORKER_READY,
  type WorkerCancel,
  type WorkerClose,
  type WorkerJob,
  type WorkerProlonged,
} from './serve-worker.js';

/** Why the worker did not answer a job. */
export type LostJobCause = 'timeout' | 'refused' | 'stopping' | 'memory' | 'ended';

/** Maps a cause to what callers may see. Does not reveal how other jobs affected the worker that they share. */
export function causeOfLoss(cause: LostJobCause): 'timeout' | 'overloaded' | 'stopping' {
  return cause === 'timeout' || cause === 'stopping' ? cause : 'overloaded';
}

export interface WorkerPoolOptions<Answer, Result> extends ThreadOptions {
  /** Niceness of the worker, 0 to 19, see `yieldToMainThread`. */
  niceness: number;
  /** Maximum number of concurrent jobs. */
  maxJobs: number;
  /** Converts an answer of the worker to a result. */
  read(answer: Answer): Result | Promise<Result>;
  /**
   * Returns the result of a job without an answer.
   * @param stage how far it got: `refused` by the pool, sent while the worker was `loading`, or possibly `begun`
   */
  lost(cause: LostJobCause, latencyMs: number, stage: 'refused' | 'loading' | 'begun'): Result;
  /** Receives other messages of the worker, and undefined when it has exited, which invalidates earlier notices. */
  onNotice?(notice: unknown): void;
}

type Message<Answer> = Answer | { notice: unknown } | WorkerProlonged | typeof WORKER_READY;

interface Job<Result> {
  startedAt: number;
  timer: NodeJS.Timeout;
  resolve(result: Result): void;
}

/** Time after its deadline until a job times out. A worker that is silent for this long has stalled. */
const GRACE_MS = 1_000;
/** Maximum time for a worker to load, which takes seconds on a busy machine. */
const START_MS = 30_000;

/** Runs jobs in a worker with a memory limit, which is replaced when it fails. Every job gets a result. */
export class WorkerPool<Request, Answer extends { id: number }, Result> {
  private worker: Worker | undefined;
  /** Settles when the current worker accepts jobs or has exited. */
  private loaded: Promise<unknown> = Promise.resolve();
  /** Workers that are loading. A late job does not kill them, because they would leave the files open that they are reading. */
  private readonly starting = new WeakSet<Worker>();
  private readonly jobs = new Map<number, Job<Result>>();
  private nextId = 0;
  private closing = false;
  private heardAt = 0;
  private idle: (() => void) | undefined;

  constructor(private readonly options: WorkerPoolOptions<Answer, Result>) {}

  /**
   * Runs one job. Never rejects: `lost` returns the result of a job without an answer.
   * @param signal cancels the job: the worker is notified and answers early
   * @param transfer objects of the request to transfer to the worker
   */
  run(
    request: Request,
    deadlineMs: number,
    signal?: AbortSignal,
    transfer: readonly Transferable[] = [],
  ): Promise<Result> {
    if (this.closing || this.jobs.size >= this.options.maxJobs) {
      return Promise.resolve(this.options.lost(this.closing ? 'stopping' : 'refused', 0, 'refused'));
    }
    const id = (this.nextId += 1);
    this.worker ??= this.startWorker();
    const { worker } = this;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.late(worker, id), deadlineMs + GRACE_MS);
      const cancel = () => post(worker, { cancel: id } satisfies WorkerCancel);
      const settle = (result: Result): void => {
        signal?.removeEventListener('abort', cancel);
        resolve(result);
      };
      this.jobs.set(id, { startedAt: performance.now(), timer, resolve: settle });
      worker.ref();
      const job = { id, request, deadlineAt: Date.now() + deadlineMs } satisfies WorkerJob<Request>;
      post(worker, job, transfer);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Waits until the worker has loaded, so that the deadline of a job does not include the loading time. Never rejects. */
  async ready(): Promise<void> {
    if (!this.closing) {
      this.worker ??= this.startWorker();
      // A worker without jobs does not keep the process alive.
      this.worker.ref();
      await this.loaded;
      if (this.jobs.size === 0) {
        this.worker?.unref();
      }
    }
  }

  /** Cancels all jobs: the worker is notified and answers early. */
  cancelAll(): void {
    for (const id of this.jobs.keys()) {
      if (this.worker !== undefined) {
        post(this.worker, { cancel: id } satisfies WorkerCancel);
      }
    }
  }

  /** Rejects new jobs, waits for running ones and stops the worker. @param graceMs time for the worker to clean up */
  async close(graceMs = 0): Promise<void> {
    this.closing = true;
    if (this.jobs.size > 0) {
      await new Promise<void>((resolve) => {
        this.idle = resolve;
      });
    }
    const { worker } = this;
    this.worker = undefined;
    if (worker !== undefined && graceMs > 0) {
      const exit = once(worker, 'exit').catch(() => undefined);
      post(worker, 'close' satisfies WorkerClose);
      await within<unknown>(graceMs, exit, () => undefined);
    }
    await worker?.terminate();
  }

  private startWorker(): Worker {
    const worker = startThread(this.options);
    this.starting.add(worker);
    // The first message means that the worker has loaded.
    this.loaded = Promise.race([once(worker, 'message'), once(worker, 'exit')]).catch(() => undefined);
    worker.on('message', (message: Message<Answer>) => void this.receive(worker, message));
    worker.on('error', (error: NodeJS.ErrnoException) =>
      this.lose(worker, error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'ended'),
    );
    worker.on('exit', () => this.lose(worker));
    setTimeout(() => {
      if (this.starting.has(worker)) {
        void this.kill(worker);
      }
    }, START_MS).unref();
    return worker;
  }

  private async receive(worker: Worker, message: Message<Answer>): Promise<void> {
    if (message === WORKER_READY) {
      this.starting.delete(worker);
      // Only now: on a busy machine a thread of low priority would take many seconds to load.
      yieldToMainThread(this.options.niceness);
      return;
    }
    this.heardAt = performance.now();
    if ('notice' in message) {
      this.options.onNotice?.(message.notice);
    } else if ('prolonged' in message) {
      this.prolong(worker, message);
    } else {
      this.finish(message.id, await this.options.read(message));
    }
  }

  private prolong(worker: Worker, { prolonged, ms }: WorkerProlonged): void {
    const job = this.jobs.get(prolonged);
    if (job !== undefined) {
      clearTimeout(job.timer);
      job.timer = setTimeout(() => this.late(worker, prolonged), ms + GRACE_MS);
    }
  }

  /** Fails a job after its deadline, unless its answer is already queued. Kills a worker that has stalled. */
  private late(worker: Worker, id: number): void {
    setImmediate(() => {
      if (this.jobs.has(id)) {
        this.fail(worker, id, 'timeout');
        const isSilent = performance.now() - this.heardAt > GRACE_MS;
        if (isSilent && !this.starting.has(worker)) {
          void this.kill(worker);
        }
      }
    });
  }

  private async kill(worker: Worker): Promise<void> {
    this.lose(worker);
    await worker.terminate();
  }

  /** Fails all jobs of a worker that has exited. */
  private lose(worker: Worker, cause: LostJobCause = 'ended'): void {
    if (this.worker !== worker) {
      return;
    }
    this.worker = undefined;
    this.options.onNotice?.(undefined);
    for (const id of this.jobs.keys()) {
      this.fail(worker, id, cause);
    }
  }

  private fail(worker: Worker, id: number, cause: LostJobCause): void {
    const job = this.jobs.get(id);
    if (job !== undefined) {
      const stage = this.starting.has(worker) ? 'loading' : 'begun';
      this.finish(id, this.options.lost(cause, Math.round(performance.now() - job.startedAt), stage));
    }
  }

  private finish(id: number, result: Result): void {
    const job = this.jobs.get(id);
    if (job === undefined) {
      return;
    }
    clearTimeout(job.timer);
    this.jobs.delete(id);
    if (this.jobs.size === 0) {
      this.worker?.unref();
      this.idle?.();
    }
    job.resolve(result);
  }
}

function post(worker: Worker, message: unknown, transfer: readonly Transferable[] = []): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  worker.postMessage(message, transfer);
}
