import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

import type { ConnectionFailureCause } from './connection-failure.types.js';
import type { ConnectionTestRequest, ConnectionTestResult } from './connection-test.types.js';
import { yieldToMainThread } from './background-threads.js';
import { decodeTools } from './tool-transfer.js';
import {
  type McpWorkerAnswer,
  type McpWorkerJob,
  type McpWorkerSettings,
  WORKER_READY,
} from './worker/mcp-worker.messages.js';

/** How the pool runs its worker. */
export interface McpWorkerPoolOptions {
  settings: McpWorkerSettings;
  /** Old generation heap of the worker in megabytes. */
  memoryMb: number;
  /** How far the worker stands back for the main thread, 0 to 19. */
  niceness: number;
  /** Deadline of one job, from being asked to being answered. */
  deadlineMs: number;
  /** File of the worker. @default the built worker of this package */
  entry?: string;
}

interface Job {
  startedAt: number;
  timer: NodeJS.Timeout;
  resolve(result: ConnectionTestResult): void;
}

/** Beyond its deadline a job gets this long before the worker counts as stalled and is killed. */
const GRACE_MS = 1_000;
/** A worker that has not started by then never will; a busy machine takes seconds. */
const START_MS = 30_000;
/** Jobs in flight at the most; each holds some 100 KB in the worker. */
const MAX_JOBS = 500;
const YOUNG_GENERATION_MB = 16;
const STACK_MB = 2;

const ENTRY = '#mcp-worker';

/**
 * Runs connection tests in a worker thread of bounded memory. The worker starts with the first job, is killed and
 * replaced when it stalls or runs out of memory, and never keeps the process alive by itself. Jobs always get an answer.
 */
export class McpWorkerPool {
  private worker: Worker | undefined;
  /** Workers that are still loading: killed then, they leave the files open that they read, and so would the next ones. */
  private readonly starting = new WeakSet<Worker>();
  private readonly jobs = new Map<number, Job>();
  private nextId = 0;
  private closing = false;
  private idle: (() => void) | undefined;

  constructor(private readonly options: McpWorkerPoolOptions) {}

  /**
   * Runs one test. Never rejects; a job lost with the worker answers `overloaded`.
   * @param deadlineMs for this job. @default that of the pool
   */
  run(request: ConnectionTestRequest, deadlineMs = this.options.deadlineMs): Promise<ConnectionTestResult> {
    if (this.closing || this.jobs.size >= MAX_JOBS) {
      const cause = this.closing ? 'stopping' : 'overloaded';
      return Promise.resolve({ outcome: 'unreachable', cause, latencyMs: 0 });
    }
    const id = (this.nextId += 1);
    const worker = this.startedWorker();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.late(worker, id), deadlineMs + GRACE_MS);
      this.jobs.set(id, { startedAt: performance.now(), timer, resolve });
      worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage({ id, request, deadlineAt: Date.now() + deadlineMs } satisfies McpWorkerJob);
    });
  }

  /** Takes no more jobs, waits for those in flight (each ends with its deadline) and stops the worker. */
  async close(): Promise<void> {
    this.closing = true;
    if (this.jobs.size > 0) {
      await new Promise<void>((resolve) => {
        this.idle = resolve;
      });
    }
    await this.worker?.terminate();
    this.worker = undefined;
  }

  private startedWorker(): Worker {
    if (this.worker !== undefined) {
      return this.worker;
    }
    const {
      settings,
      memoryMb,
      niceness,
      entry = createRequire(import.meta.url).resolve(ENTRY),
    } = this.options;
    const worker = new Worker(entry, {
      name: 'mcp-connection',
      workerData: settings,
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
    worker.on('message', (message: McpWorkerAnswer | typeof WORKER_READY) =>
      message === WORKER_READY ? this.starting.delete(worker) : void this.settle(message),
    );
    worker.on('error', () => this.lose(worker));
    worker.on('exit', () => this.lose(worker));
    this.worker = worker;
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

  private async settle(answer: McpWorkerAnswer): Promise<void> {
    if ('failed' in answer) {
      this.finish(answer.id, answer.failed);
      return;
    }
    this.finish(answer.id, { ...answer.connected, tools: await decodeTools(answer.tools) });
  }

  /** A job is over; the worker that did not answer it has stalled, unless it has not even started. */
  private late(worker: Worker, id: number): void {
    this.fail(id, 'timeout');
    if (!this.starting.has(worker)) {
      void this.kill(worker);
    }
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
    for (const id of this.jobs.keys()) {
      this.fail(id, 'overloaded');
    }
  }

  private fail(id: number, cause: ConnectionFailureCause): void {
    const job = this.jobs.get(id);
    if (job !== undefined) {
      const latencyMs = Math.round(performance.now() - job.startedAt);
      this.finish(id, { outcome: 'unreachable', cause, latencyMs });
    }
  }

  private finish(id: number, result: ConnectionTestResult): void {
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
