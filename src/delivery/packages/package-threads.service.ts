import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { requestContext } from '../../platform/observability/logging/request-context.js';
import { Bulkhead } from '../../platform/concurrency/bulkhead.js';
import { Env } from '../../platform/config/env.js';
import { PackageChecksBusyError } from './model/packages.errors.js';
import { PackageThread } from './thread/package-thread.js';
import { packageLimits } from './package.limits.js';

/** Thread of an application that has been closed, kept for the next one in this process because loading a thread takes seconds. */
let spare: PackageThread | undefined;

/**
 * Manages the worker thread for packages, which runs one task at a time. Packages are large and untrusted, so reading and checking them
 * must not block the thread that answers requests.
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
   * Runs work with exclusive use of the thread. Waits until it is free, unless the request ends first.
   * @throws PackageChecksBusyError when too many callers wait, or this one waits for too long
   */
  runExclusively<Result>(work: (thread: PackageThread) => Promise<Result>): Promise<Result> {
    return this.bulkhead.run(() => work(this.thread), { signal: requestContext()?.over });
  }

  /** Ends the thread after the current task, or keeps it as a spare, which does not keep the process alive. */
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
