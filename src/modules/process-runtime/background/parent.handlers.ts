import { Injectable } from '@nestjs/common';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import type { EngineCommand } from '../engine/state/engine.types.js';
import { decodeJob } from '../steps/runtime-job.js';
import { toParentLink, type ParentLink } from '../storage/process-instance.entity.js';
import { givenUp, JobSteps } from './job-steps.js';

/** What a called process has for its caller. Never one transaction with the step that asked for it: no two instances are locked at a time. */
@Injectable()
abstract class ParentHandler implements JobHandler {
  abstract readonly kind: string;

  constructor(private readonly steps: JobSteps) {}

  async run(job: Job): Promise<void> {
    const parent = await this.parentOf(job);
    const command = parent && this.command(job, parent);
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
  protected abstract command(job: Job, parent: ParentLink): EngineCommand | null;

  /** Where the parent stands still while this is not done. */
  protected abstract stopped(parent: ParentLink): Partial<Pick<ParentLink, 'tokenId' | 'visit'>>;

  private async parentOf(job: Job): Promise<ParentLink | null> {
    const head = await this.steps.instanceOf(job);
    return head && toParentLink(head);
  }
}

/** A called process has ended: the token that waits for it goes on. */
@Injectable()
export class NotifyParentHandler extends ParentHandler {
  readonly kind = 'NOTIFY_PARENT';

  protected command({ payload }: Job, { waits, tokenId, visit, index }: ParentLink): EngineCommand | null {
    const { outcome } = decodeJob<'NOTIFY_PARENT'>(payload);
    return waits ? { kind: 'CHILD_ENDED', tokenId, visit, index, outcome } : null;
  }

  protected stopped({ tokenId, visit }: ParentLink): Pick<ParentLink, 'tokenId' | 'visit'> {
    return { tokenId, visit };
  }
}

/** A called process copies values to its caller. */
@Injectable()
export class AppendToParentHandler extends ParentHandler {
  readonly kind = 'APPEND_TO_PARENT';

  protected command({ payload }: Job): EngineCommand {
    return { kind: 'APPEND', values: decodeJob<'APPEND_TO_PARENT'>(payload).values };
  }

  /** Nowhere: no token waits for the values. */
  protected stopped(): Record<string, never> {
    return {};
  }
}
