import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '../../../test/support/databases/process-resources.js';

/** Starts a `*.process.ts` of this folder in a separate process, which ends with this one at the latest. */
export function forkHelper(file: string): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return killOnExit(fork(path, { execArgv: ['--import', 'tsx'] }));
}

/**
 * Waits for the next message of a helper process.
 * @throws Error when the process ends first
 */
export function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      child.removeListener('message', onMessage).removeListener('exit', onExit);
      end();
    };
    const onMessage = (message: unknown): void => settle(() => resolve(message));
    const onExit = (): void => settle(() => reject(new Error('a helper process ended without a message')));
    child.once('message', onMessage).once('exit', onExit);
  });
}

/** Number of times each call was received, by a name such as `order-7/book`. */
export type CallCounts = Readonly<Record<string, number>>;

/** An external party in a separate process that counts the calls it receives. */
export class CountingPeer {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  /** @param file a `*.process.ts` of this folder that uses `countCalls` */
  static async start(file: string): Promise<CountingPeer> {
    const child = forkHelper(file);
    return new CountingPeer(child, String(await nextMessage(child)));
  }

  /** Returns the calls received so far. */
  async counts(): Promise<CallCounts> {
    return (await this.ask('counts')) as CallCounts;
  }

  /** Returns the number of calls received so far. */
  async total(): Promise<number> {
    return (await this.ask('total')) as number;
  }

  private ask(question: 'counts' | 'total'): Promise<unknown> {
    const answer = nextMessage(this.child);
    this.child.send(question);
    return answer;
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}

/**
 * Serves the counts to `CountingPeer`. Must be called once in its process, when the server listens.
 * @returns function that counts one call
 */
export function countCalls(url: string): (name: string) => void {
  const counts: Record<string, number> = {};
  let total = 0;
  process.on('message', (question) => process.send?.(question === 'total' ? total : counts));
  process.send?.(url);
  return (name) => {
    total += 1;
    counts[name] = (counts[name] ?? 0) + 1;
  };
}
