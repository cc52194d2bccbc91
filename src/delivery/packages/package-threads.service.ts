import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { requestContext } from '../../platform/observability/logging/request-context.js';
import { Bulkhead } from '../../platform/concurrency/bulkhead.js';
import { Env } from '../../platform/config/env.js';
import { PackageChecksBusyError } from './model/packages.errors.js';
import { PackageThread } from './thread/package-thread.js';
import { packageLimits } from './package.limits.js';

/** A thread of an application that has ended, for the next one of this process: to load one takes seconds. */
let spare: PackageThread | undefined;

/**
 * The worker thread for packages, which does one thing at a time. What is in a package is large and foreign: its reading and checking must not hold up the
 * thread that answers requests.
 */
@Injectable()
export class PackageThreadsService implements OnModuleDestroy {
  private readonly thread: PackageThread;
  private readonly bulkhead: Bulkhead;

  constructor(env: Env) {
    this.thread = threadOf(env);
    const { queue, waitMs } = packageLimits;
    this.bulkhead = new Bulkhead({ capacity: 1, queue, waitMs }, () => new PackageChecksBusyError());
  }

  /**
   * Does work with the thread for itself; waits until it is free, but not for a request that is over.
   * @throws PackageChecksBusyError when too many wait, or one waits for too long
   */
  inTurn<Result>(work: (thread: PackageThread) => Promise<Result>): Promise<Result> {
    return this.bulkhead.run(() => work(this.thread), { signal: requestContext()?.over });
  }

  /** Ends the thread after the task in flight, or keeps it as a spare one, which never keeps the process alive. */
  async onModuleDestroy(): Promise<void> {
    if (spare === undefined && this.bulkhead.occupied() === 0) {
      spare = this.thread;
    } else {
      await this.thread.close();
    }
  }
}

function threadOf(env: Env): PackageThread {
  const thread = new PackageThread(env);
  if (spare?.settings !== thread.settings) {
    return thread;
  }
  const taken = spare;
  spare = undefined;
  return taken;
}
