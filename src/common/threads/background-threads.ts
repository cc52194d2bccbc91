import { readdirSync, readlinkSync } from 'node:fs';
import { platform, setPriority } from 'node:os';
import { basename } from 'node:path';

const THREADS = '/proc/self/task';
/** Threads that never stand back. */
const prompt = new Set<number>();

/**
 * Lets the thread that answers callers go first when the processor is short: every other thread of this process gets a lower
 * priority. These threads are the worker and its helpers. The helpers collect its garbage, unpack and look up for it, and make
 * as much work for the processor as the worker itself.
 *
 * Linux gives each thread a priority of its own (setpriority(2)). Elsewhere, and where a thread is not ours to see, nothing
 * changes.
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
