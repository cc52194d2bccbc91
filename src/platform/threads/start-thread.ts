import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { readdirSync, readlinkSync } from 'node:fs';
import { platform, setPriority } from 'node:os';
import { basename } from 'node:path';

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

/** The first major release of V8 that knows the flag below; earlier ones do not need it. */
const V8_WITH_LOOP_UNROLLING = 12;

// The optimization drops the interrupt check of a loop around `new Array(1_000)` (seen in Node 24 and 26). Such a loop passes
// its bound of memory, and `terminate()` does not stop it. The flag holds for code that is compiled after this line.
if (Number.parseInt(process.versions.v8, 10) >= V8_WITH_LOOP_UNROLLING) {
  setFlagsFromString('--no-turboshaft-loop-unrolling');
}

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

const THREADS = '/proc/self/task';
/** Threads that never stand back. */
const prompt = new Set<number>();

/**
 * Lets the thread that answers callers go first: on Linux (setpriority(2)) every other thread of this
 * process, workers and those that collect their garbage, unpack and look up for them, gets a lower priority.
 * @param niceness 0 to 19, the higher the further they stand back
 */
export function yieldToMainThread(niceness: number): void {
  if (platform() !== 'linux') {
    return;
  }
  for (const thread of backgroundThreads()) {
    try {
      setPriority(thread, niceness);
    } catch {
      // It has ended since it was listed.
    }
  }
}

/** Says that a thread answers others and never stands back. @param thread as `threadId` tells it */
export function neverStandsBack(thread: number): void {
  prompt.add(thread);
}

/** Id by which Linux knows the thread that asks; undefined elsewhere. */
export function threadId(): number | undefined {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return undefined;
  }
}

/** Thread ids; the main thread has that of the process. */
function backgroundThreads(): number[] {
  try {
    return readdirSync(THREADS)
      .map(Number)
      .filter((thread) => thread !== process.pid && !prompt.has(thread));
  } catch {
    return [];
  }
}
