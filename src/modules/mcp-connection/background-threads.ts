import { readdirSync } from 'node:fs';
import { constants, platform, setPriority } from 'node:os';

const THREADS = '/proc/self/task';

/**
 * Lets the thread that answers callers go first when the processor is short: every other thread of this process gets the
 * lowest priority. Besides the worker these are the helpers that collect its garbage and unpack and look up for it, which
 * make as much work for the processor as the worker itself.
 *
 * Linux gives each thread a priority of its own (setpriority(2)). Elsewhere, and where a thread is not ours to see,
 * nothing changes.
 */
export function yieldToMainThread(): void {
  if (platform() !== 'linux') {
    return;
  }
  for (const thread of backgroundThreads()) {
    try {
      setPriority(thread, constants.priority.PRIORITY_LOW);
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
