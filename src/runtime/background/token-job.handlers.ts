import { Injectable, type Type } from '@nestjs/common';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import type { EngineCommand } from '#engine/tokens';
import type { Fault } from '../steps/incident-records.js';
import { decodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import { isCalled, type ParentLink } from '../storage/process-instance.entity.js';
import { givenUpMessage, JobSteps, ownerOf } from './job-steps.js';

type Work<Kind extends RuntimeJob['kind']> = Extract<RuntimeJob, { kind: Kind }>;

/** Command of a job for an instance. */
interface Target {
  readonly instanceId: number;
  readonly command: EngineCommand;
  /** Place of the incident if the job fails. */
  readonly place: Partial<Fault>;
}

type Find<Kind extends RuntimeJob['kind']> = (
  work: Work<Kind>,
  job: Job,
  steps: JobSteps,
) => Target | null | Promise<Target | null>;

/** Returns the handler of jobs that consist of one command. @param find returns null when the job is obsolete */
function commandHandler<Kind extends RuntimeJob['kind']>(
  kind: Kind,
  find: Find<Kind>,
): Type<JobHandler & { readonly kind: Kind }> {
  @Injectable()
  class CommandHandler implements JobHandler {
    readonly kind = kind;

    constructor(private readonly steps: JobSteps) {}

    async run(job: Job): Promise<void> {
      const target = await find(decodeJob<Kind>(job.payload), job, this.steps);
      await (target === null
        ? this.steps.drop(job)
        : this.steps.make(job, target.instanceId, target.command));
    }

    async giveUp(job: Job, error: unknown): Promise<void> {
      const target = await find(decodeJob<Kind>(job.payload), job, this.steps);
      await (target === null
        ? this.steps.drop(job)
        : this.steps.stop(job, target.instanceId, { message: givenUpMessage(job, error), ...target.place }));
    }
  }
  return CommandHandler;
}

/** Commands for the instance of the job. */
const own =
  <Kind extends RuntimeJob['kind']>(command: (work: Work<Kind>) => EngineCommand): Find<Kind> =>
  (work, job) => ({
    instanceId: ownerOf(job),
    command: command(work),
    place: 'visit' in work && 'tokenId' in work ? { tokenId: work.tokenId, visit: work.visit } : {},
  });

/** Commands for the caller of the instance. A transaction of its own, because none locks two instances. */
const caller =
  <Kind extends RuntimeJob['kind']>(
    target: (work: Work<Kind>, link: ParentLink) => Omit<Target, 'instanceId'> | null,
  ): Find<Kind> =>
  async (work, job, steps) => {
    const head = await steps.instanceOf(job);
    const found = head !== null && isCalled(head) ? target(work, head) : null;
    return found && head && { instanceId: head.parentId ?? 0, ...found };
  };

/** A timer event of a token is due. */
export const TimerHandler = commandHandler(
  'TIMER',
  own(({ at: _at, ...command }) => command),
);

/** The delay of an automatic action is over. */
export const ActionDueHandler = commandHandler(
  'ACTION_DUE',
  own(({ at: _at, ...command }) => command),
);

/** Continues a step that reached the maximum number of nodes of one transaction. */
export const ContinueHandler = commandHandler(
  'CONTINUE',
  own(() => ({ kind: 'CONTINUE' })),
);

/** An instance has reached the maximum duration of its definition. */
export const ExpiryHandler = commandHandler(
  'EXPIRY',
  own(() => ({ kind: 'END', state: 'EXPIRED' })),
);

/** Delivers a message whose first delivery stopped, so that its incident can be retried. */
export const DeliveryHandler = commandHandler(
  'DELIVERY',
  own((work) => ({ ...work, kind: 'MESSAGE' })),
);

/** A called process has ended: the token that waits for it continues. */
export const NotifyParentHandler = commandHandler(
  'NOTIFY_PARENT',
  caller(({ outcome }, { parentTokenId: tokenId, parentVisit: visit, parentIndex: index, parentWaits }) =>
    parentWaits
      ? {
          command: { kind: 'CHILD_ENDED', tokenId, visit, index, outcome },
          place: { source: 'SUBPROCESS', tokenId, visit },
        }
      : null,
  ),
);

/** A called process copies values to its caller; no token waits for them. */
export const AppendToParentHandler = commandHandler(
  'APPEND_TO_PARENT',
  caller(({ values }) => ({ command: { kind: 'APPEND', values }, place: { source: 'SUBPROCESS' } })),
);
