import { Injectable } from '@nestjs/common';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import type { EngineCommand } from '../engine/state/engine.types.js';
import { toParentLink, type ParentLink } from '../storage/instance.row.js';
import { JobOwners } from './job-owners.js';
import { JobSteps } from './job-steps.js';
import { decodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import { givenUp } from './token-job.handlers.js';

type Kind = 'NOTIFY_PARENT' | 'APPEND_TO_PARENT';

/** What a called process has for its caller. Never one transaction with the step that asked for it: no two instances are locked at a time. */
@Injectable()
abstract class ParentHandler<K extends Kind> implements JobHandler {
  abstract readonly kind: K;

  constructor(
    private readonly steps: JobSteps,
    private readonly owners: JobOwners,
  ) {}

  async run(job: Job): Promise<void> {
    const parent = await this.parentOf(job);
    const command = parent === null ? null : this.command(decodeJob<K>(job.payload), parent);
    if (parent === null || command === null) {
      await this.steps.drop(job);
    } else {
      await this.steps.make(job, parent.id, () => command);
    }
  }

  async giveUp(job: Job, error: unknown): Promise<void> {
    const parent = await this.parentOf(job);
    if (parent === null) {
      await this.steps.drop(job);
    } else {
      const message = givenUp(job, error);
      await this.steps.stop(job, parent.id, { source: 'SUBPROCESS', ...this.stopped(parent), message });
    }
  }

  /** Null when there is nothing to tell this parent. */
  protected abstract command(
    work: Extract<RuntimeJob, { kind: K }>,
    parent: ParentLink,
  ): EngineCommand | null;

  /** Where the parent stands still while this is not done. */
  protected abstract stopped(parent: ParentLink): Partial<Pick<ParentLink, 'tokenId' | 'visit'>>;

  private async parentOf(job: Job): Promise<ParentLink | null> {
    const head = await this.owners.find(job);
    return head && toParentLink(head);
  }
}

/** A called process has ended: the token that waits for it goes on. */
@Injectable()
export class NotifyParentHandler extends ParentHandler<'NOTIFY_PARENT'> {
  readonly kind = 'NOTIFY_PARENT';

  protected command(
    { outcome }: Extract<RuntimeJob, { kind: 'NOTIFY_PARENT' }>,
    { waits, tokenId, visit, index }: ParentLink,
  ): EngineCommand | null {
    return waits ? { kind: 'CHILD_ENDED', tokenId, visit, index, outcome } : null;
  }

  protected stopped({ tokenId, visit }: ParentLink): Pick<ParentLink, 'tokenId' | 'visit'> {
    return { tokenId, visit };
  }
}

/** A called process copies values to its caller. */
@Injectable()
export class AppendToParentHandler extends ParentHandler<'APPEND_TO_PARENT'> {
  readonly kind = 'APPEND_TO_PARENT';

  protected command({ values }: Extract<RuntimeJob, { kind: 'APPEND_TO_PARENT' }>): EngineCommand {
    return { kind: 'APPEND', values };
  }

  /** Nowhere: no token waits for the values. */
  protected stopped(): Record<string, never> {
    return {};
  }
}
