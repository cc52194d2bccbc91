import { Injectable } from '@nestjs/common';
import type { JobLane, JobHandler } from '../model/job-queue.types.js';
import { jobLimits } from '../job.limits.js';

/**
 * The handlers of this release, one for each kind. Modules register theirs while the application starts, in
 * `onModuleInit` at the latest: workers begin with `onApplicationBootstrap`.
 */
@Injectable()
export class JobHandlersService {
  private readonly handlers = new Map<string, JobHandler>();

  /** @throws TypeError when the kind has a handler already, a mistake in the code */
  register(handler: JobHandler): void {
    if (this.handlers.has(handler.kind)) {
      throw new TypeError(`There are two handlers for jobs of kind ${handler.kind}.`);
    }
    this.handlers.set(handler.kind, handler);
  }

  /** Undefined for a kind that only another release knows. */
  find(kind: string): JobHandler | undefined {
    return this.handlers.get(kind);
  }

  /** Every kind that can be run here. */
  get kinds(): string[] {
    return [...this.handlers.keys()];
  }

  /** How long a job of this kind is held without a heartbeat, milliseconds. */
  leaseMs(kind: string): number {
    return this.find(kind)?.leaseMs ?? jobLimits.leaseMs;
  }

  /** Where jobs of this kind wait. */
  lane(kind: string): JobLane {
    return this.leaseMs(kind) > jobLimits.leaseMs ? 'long' : 'short';
  }
}
