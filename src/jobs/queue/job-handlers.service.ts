import { Injectable } from '@nestjs/common';
import type { JobLane, JobHandler } from '../model/job-queue.types.js';
import { jobLimits } from '../job.limits.js';

/**
 * Registry of job handlers, one for each kind. Modules must register theirs in `onModuleInit` at the latest, because workers start in
 * `onApplicationBootstrap`.
 */
@Injectable()
export class JobHandlersService {
  private readonly handlers = new Map<string, JobHandler>();

  /** @throws TypeError when the kind already has a handler, which is a programming error */
  register(handler: JobHandler): void {
    if (this.handlers.has(handler.kind)) {
      throw new TypeError(`There are two handlers for jobs of kind ${handler.kind}.`);
    }
    this.handlers.set(handler.kind, handler);
  }

  /** Finds the handler of a kind; undefined when only another release knows the kind. */
  find(kind: string): JobHandler | undefined {
    return this.handlers.get(kind);
  }

  /** All kinds that have a handler. */
  get kinds(): string[] {
    return [...this.handlers.keys()];
  }

  /** Returns the lease of a kind in milliseconds. */
  leaseMs(kind: string): number {
    return this.find(kind)?.leaseMs ?? jobLimits.leaseMs;
  }

  /** Returns the lane of a kind. */
  lane(kind: string): JobLane {
    return this.leaseMs(kind) > jobLimits.leaseMs ? 'long' : 'short';
  }
}
