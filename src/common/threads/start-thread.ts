import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** What a thread is started with. */
export interface ThreadOptions {
  /** Shown by the operating system and debuggers. */
  name: string;
  /** File of the thread, or its name in `imports` of package.json. */
  entry: string;
  /** Handed over once; plain data without secrets. */
  workerData: unknown;
  /** Old generation heap in megabytes. */
  memoryMb: number;
}

const YOUNG_GENERATION_MB = 16;
const STACK_MB = 2;

/** Starts a thread of bounded memory, without the settings and secrets of this process. */
export function startThread({ name, entry, workerData, memoryMb }: ThreadOptions): Worker {
  return new Worker(entry.startsWith('#') ? createRequire(import.meta.url).resolve(entry) : entry, {
    name,
    workerData,
    // Neither the secrets of the environment nor the options of the main thread are the thread's business.
    env: {},
    execArgv: [],
    // What the thread drops instead of printing must not be piped by default either.
    stdout: true,
    stderr: true,
    resourceLimits: {
      maxOldGenerationSizeMb: memoryMb,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      stackSizeMb: STACK_MB,
    },
  });
}
