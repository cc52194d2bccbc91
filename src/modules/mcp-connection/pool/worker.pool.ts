import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

import { yieldToMainThread } from './background-threads.js';
import { WORKER_READY, type WorkerCancel, type WorkerClose, type WorkerJob } from '../worker/worker-job.js';

/** Why a job got no answer of the worker. */
export type LostJobCause = 'timeout' | 'overloaded' | 'stopping';

/** How a pool runs its worker, and what its jobs are. */
export interface WorkerPoolOptions<Answer, Result> {
  /** Shown by the operating system and debuggers. */
  name: string;
  /** File of the worker, or its name in `imports` of package.json. */
  entry: string;
  /** Handed over once; plain data without secrets. */
  workerData: unknown;
  /** Old generation heap of the worker in megabytes. */
  memoryMb: number;
  /** How far the worker stands back for the main thread, 0 to 19. */
  niceness: number;
  /** Jobs in flight at the most. */
  maxJobs: number;
  /** Turns what the worker answered into a result. */
  read(answer: Answer): Result | Promise<Result>;
  /** The result of a job without an answer; one that was refused never reached the worker. */
  lost(cause: LostJobCause, latencyMs: number, fate: 'refused' | 'begun'): Result;
  /** Hears what the worker says besides answers; undefined when it is gone, and with it all that it spoke of. */
  onNotice?(notice: unknown): void;
}

interface Notice {
  notice: unknown;
}

type Message<Answer> = Answer | Notice | typeof WORKER_READY;

interface Job<Result> {
  startedAt: number;
  timer: NodeJS.Timeout;
  resolve(result: Result): void;
}

/** Beyond its deadline a job gets this long before it is given up; a worker that is silent for so long has stalled. */
const GRACE_MS = 1_000;
/** A worker that has not started by then never will; a busy machine takes seconds. */
const START_MS = 30_000;
const YOUNG_GENERATION_MB = 16;
const STACK_MB = 2;

/**
 * Runs jobs in a worker thread of bounded memory. The worker starts with the first job, is killed and replaced when it
 * stalls or runs out of memory, and never keeps the process alive by itself. Jobs always get an answer.
 */
export class WorkerPool<Request, Answer extends { id: number }, Result> {
  private worker: Worker | undefined;
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
   */
  run(request: Request, deadlineMs: number, signal?: AbortSignal): Promise<Result> {
    if (this.closing || this.jobs.size >= this.options.maxJobs) {
      return Promise.resolve(this.options.lost(this.closing ? 'stopping' : 'overloaded', 0, 'refused'));
    }
    const id = (this.nextId += 1);
    const worker = this.startedWorker();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.late(worker, id), deadlineMs + GRACE_MS);
      const cancel = () => post(worker, { cancel: id } satisfies WorkerCancel);
      const settle = (result: Result): void => {
        signal?.removeEventListener('abort', cancel);
        resolve(result);
      };
      this.jobs.set(id, { startedAt: performance.now(), timer, resolve: settle });
      worker.ref();
      post(worker, { id, request, deadlineAt: Date.now() + deadlineMs } satisfies WorkerJob<Request>);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Takes every job in flight back; the worker hears of it and answers early. */
  cancelAll(): void {
    for (const id of this.jobs.keys()) {
      if (this.worker !== undefined) {
        post(this.worker, { cancel: id } satisfies WorkerCancel);
      }
    }
  }

  /**
   * Takes no more jobs, waits for those in flight (each ends with its deadline) and stops the worker.
   * @param graceMs for the worker to end by itself when it is told so
   */
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
      await farewell(worker, graceMs);
    }
    await worker?.terminate();
  }

  private startedWorker(): Worker {
    this.worker ??= this.startWorker();
    return this.worker;
  }

  private startWorker(): Worker {
    const { name, entry, workerData, memoryMb, niceness } = this.options;
    const worker = new Worker(entry.startsWith('#') ? createRequire(import.meta.url).resolve(entry) : entry, {
      name,
      workerData,
      // Neither the secrets of the environment nor the options of the main thread are the worker's business.
      env: {},
      execArgv: [],
      // What the worker drops instead of printing must not be piped by default either.
      stdout: true,
      stderr: true,
      resourceLimits: {
        maxOldGenerationSizeMb: memoryMb,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
        stackSizeMb: STACK_MB,
      },
    });
    worker.once('online', () => yieldToMainThread(niceness));
    worker.on('message', (message: Message<Answer>) =>
      message === WORKER_READY ? this.starting.delete(worker) : void this.hear(message),
    );
    worker.on('error', () => this.lose(worker));
    worker.on('exit', () => this.lose(worker));
    this.watchStart(worker);
    return worker;
  }

  private watchStart(worker: Worker): void {
    this.starting.add(worker);
    setTimeout(() => {
      if (this.starting.has(worker)) {
        void this.kill(worker);
      }
    }, START_MS).unref();
  }

  private async hear(message: Answer | Notice): Promise<void> {
    this.heardAt = performance.now();
    if ('notice' in message) {
      this.options.onNotice?.(message.notice);
      return;
    }
    this.finish(message.id, await this.options.read(message));
  }

  /**
   * A job is over, unless its answer waits behind this timer because this thread was busy. The worker has stalled when it
   * said nothing at all meanwhile, unless it has not even started.
   */
  private late(worker: Worker, id: number): void {
    setImmediate(() => {
      if (this.jobs.has(id)) {
        this.fail(id, 'timeout');
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
  private lose(worker: Worker): void {
    if (this.worker !== worker) {
      return;
    }
    this.worker = undefined;
    this.options.onNotice?.(undefined);
    for (const id of this.jobs.keys()) {
      this.fail(id, 'overloaded');
    }
  }

  private fail(id: number, cause: LostJobCause): void {
    const job = this.jobs.get(id);
    if (job !== undefined) {
      this.finish(id, this.options.lost(cause, Math.round(performance.now() - job.startedAt), 'begun'));
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

function farewell(worker: Worker, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, graceMs);
    worker.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    post(worker, 'close' satisfies WorkerClose);
  });
}

function post(worker: Worker, message: unknown): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  worker.postMessage(message);
}
