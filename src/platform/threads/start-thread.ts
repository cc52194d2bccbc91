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
  /** Plain data without secrets. */
  workerData: unknown;
  /** Old generation heap in megabytes. */
  memoryMb: number;
}

const YOUNG_GENERATION_MB = 16;
const STACK_MB = 2;

/** First major release of V8 with this optimization and the flag below. */
const V8_WITH_LOOP_UNROLLING = 12;

// The optimization drops the interrupt check of a loop around `new Array(1_000)` (seen in Node 24 and 26). Such a loop passes
// its memory limit, and `terminate()` does not stop it. The flag applies to code that is compiled after this line.
if (Number.parseInt(process.versions.v8, 10) >= V8_WITH_LOOP_UNROLLING) {
  setFlagsFromString('--no-turboshaft-loop-unrolling');
}

/** Starts a thread with a memory limit, and without the settings and secrets of this process. */
export function startThread({ name, entry, workerData, memoryMb }: ThreadOptions): Worker {
  return new Worker(entry.startsWith('#') ? createRequire(import.meta.url).resolve(entry) : entry, {
    name,
    workerData,
    // Hides the secrets in the environment and the options of the main thread.
    env: {},
    execArgv: [],
    // By default the output of the thread would be piped to this process.
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
/** Threads that keep their priority. */
const prioritized = new Set<number>();

/**
 * Gives the main thread, which answers callers, precedence. On Linux (setpriority(2)), lowers the priority of all other threads
 * of this process: workers, and the threads of V8 and libuv.
 * @param niceness 0 to 19; higher values mean lower priority
 */
export function yieldToMainThread(niceness: number): void {
  if (platform() !== 'linux') {
    return;
  }
  for (const thread of backgroundThreads()) {
    try {
      setPriority(thread, niceness);
    } catch {
      // The thread has ended since it was listed.
    }
  }
}

/** Exempts a thread that answers callers from `yieldToMainThread`. @param thread as returned by `threadId` */
export function keepPriority(thread: number): void {
  prioritized.add(thread);
}

/** Returns the Linux id of the current thread; undefined on other systems. */
export function threadId(): number | undefined {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return undefined;
  }
}

/** Returns the ids of all threads except prioritized ones and the main thread, whose id is that of the process. */
function backgroundThreads(): number[] {
  try {
    return readdirSync(THREADS)
      .map(Number)
      .filter((thread) => thread !== process.pid && !prioritized.has(thread));
  } catch {
    return [];
  }
}
