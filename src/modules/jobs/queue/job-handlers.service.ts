import { Injectable } from '@nestjs/common';
import type { JobLane } from '../model/job-lane.js';
import type { JobHandler } from '../model/job-queue.types.js';
import { DuplicateHandlerError } from './jobs.errors.js';
import { jobLimits } from '../job.limits.js';

/**
 * The handlers of this release, one for each kind. Modules register theirs while the application starts, in
 * `onModuleInit` at the latest: workers begin with `onApplicationBootstrap`.
 */
@Injectable()
export class JobHandlersService {
  private readonly handlers = new Map<string, JobHandler>();

  /** @throws DuplicateHandlerError when the kind has a handler already */
  register(handler: JobHandler): void {
    if (this.handlers.has(handler.kind)) {
      throw new DuplicateHandlerError(handler.kind);
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
