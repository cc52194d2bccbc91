import { readdirSync } from 'node:fs';
import { platform, setPriority } from 'node:os';

const THREADS = '/proc/self/task';

/**
 * Lets the thread that answers callers go first when the processor is short: every other thread of this process gets a
 * lower priority. Besides the worker these are the helpers that collect its garbage and unpack and look up for it, which
 * make as much work for the processor as the worker itself.
 *
 * Linux gives each thread a priority of its own (setpriority(2)). Elsewhere, and where a thread is not ours to see,
 * nothing changes.
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

/** Thread ids; the main thread has that of the process. */
function backgroundThreads(): number[] {
  try {
    return readdirSync(THREADS)
      .map(Number)
      .filter((thread) => thread !== process.pid);
  } catch {
    return [];
  }
}
