import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { endsWithUs } from '../../support/databases/process-resources.js';

/** Starts a `*.process.ts` of this folder in a process of its own, which ends with this one at the latest. */
export function forkHelper(file: string): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return endsWithUs(fork(path, { execArgv: ['--import', 'tsx'] }));
}

/**
 * Waits for what a helper process says next.
 * @throws Error when it ends instead
 */
export function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      child.removeListener('message', onMessage).removeListener('exit', onExit);
      end();
    };
    const onMessage = (message: unknown): void => settle(() => resolve(message));
    const onExit = (): void => settle(() => reject(new Error('a helper process ended without an answer')));
    child.once('message', onMessage).once('exit', onExit);
  });
}
