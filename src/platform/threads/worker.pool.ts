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

/** Why a job got no answer of the worker. */
export type LostJobCause = 'timeout' | 'refused' | 'stopping' | 'memory' | 'ended';

/** The cause as callers of outside parties are told: who shares a worker is told nothing of what another job did to it. */
export function causeOfLoss(cause: LostJobCause): 'timeout' | 'overloaded' | 'stopping' {
  return cause === 'timeout' || cause === 'stopping' ? cause : 'overloaded';
}

export interface WorkerPoolOptions<Answer, Result> extends ThreadOptions {
  /** How far the worker stands back for the main thread, 0 to 19. */
  niceness: number;
  /** Jobs in flight at the most. */
  maxJobs: number;
  /** Turns what the worker answered into a result. */
  read(answer: Answer): Result | Promise<Result>;
  /** The result of a job without an answer; one that was refused never reached the worker. Of `loading`, the worker was not ready yet. */
  lost(cause: LostJobCause, latencyMs: number, fate: 'refused' | 'loading' | 'begun'): Result;
  /** Hears what the worker says besides answers; undefined when it is gone, and with it all that it spoke of. */
  onNotice?(notice: unknown): void;
}

type Message<Answer> = Answer | { notice: unknown } | WorkerProlonged | typeof WORKER_READY;

interface Job<Result> {
  startedAt: number;
  timer: NodeJS.Timeout;
  resolve(result: Result): void;
}

/** Beyond its deadline a job gets this long before it is given up; a worker that is silent for so long has stalled. */
const GRACE_MS = 1_000;
/** A worker that has not started by then never will; a busy machine takes seconds. */
const START_MS = 30_000;

/** Runs jobs in a worker of bounded memory, which is replaced when it fails. Jobs always get an answer. */
export class WorkerPool<Request, Answer extends { id: number }, Result> {
  private worker: Worker | undefined;
  /** Of the present worker: settled when it takes jobs, or is gone. */
  private loaded: Promise<unknown> = Promise.resolve();
  /** Workers that are still loading: killed then, they leave the files open that they read, and so would the next ones. */
  private readonly starting = new WeakSet<Worker>();
  private readonly jobs = new Map<number, Job<Result>>();
  private nextId = 0;
  private closing = false;
  private heardAt = 0;
  private idle: (() => void) | undefined;

  constructor(private readonly options: WorkerPoolOptions<Answer, Result>) {}

  /**
   * Runs one job. Never rejects; a job lost with the worker is answered by `lost`.
   * @param signal takes the job back: the worker hears of it and answers early
   * @param transfer what of the request becomes the worker's
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

  /** Waits until the worker is loaded, which takes seconds on a busy machine, so that a job is not late for it. Never rejects. */
  async ready(): Promise<void> {
    if (!this.closing) {
      this.worker ??= this.startWorker();
      await this.loaded;
    }
  }

  /** Takes every job in flight back; the worker hears of it and answers early. */
  cancelAll(): void {
    for (const id of this.jobs.keys()) {
      if (this.worker !== undefined) {
        post(this.worker, { cancel: id } satisfies WorkerCancel);
      }
    }
  }

  /** Takes no more jobs, waits for those in flight and stops the worker, `graceMs` after a farewell. */
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
    const { niceness } = this.options;
    const worker = startThread(this.options);
    this.starting.add(worker);
    // The first message says that it is loaded.
    this.loaded = Promise.race([once(worker, 'message'), once(worker, 'exit')]).catch(() => undefined);
    worker.once('online', () => yieldToMainThread(niceness));
    worker.on('message', (message: Message<Answer>) => void this.hear(worker, message));
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

  private async hear(worker: Worker, message: Message<Answer>): Promise<void> {
    if (message === WORKER_READY) {
      this.starting.delete(worker);
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

  /** A job is over, unless its answer waits behind this timer. A worker that said nothing has stalled. */
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

  /** All jobs are the worker's: there is one worker at a time. */
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
      const fate = this.starting.has(worker) ? 'loading' : 'begun';
      this.finish(id, this.options.lost(cause, Math.round(performance.now() - job.startedAt), fate));
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
