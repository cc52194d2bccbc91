import { Injectable } from '@nestjs/common';
import type { Sender } from '../../store/groups/step-transaction.js';
import { Database } from '../../store/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { WorkflowRunsService } from '../calls/workflows/runs/workflow-runs.service.js';
import { decodeJob, stoppedRunOf } from '../steps/runtime-job.js';
import { ProcessStateError } from '../model/process-runtime.errors.js';
import { Incidents, type IncidentRow } from '../storage/incidents.repository.js';
import type { ParkedJob, InstanceHead } from '../storage/process-instance.entity.js';
import { Instances } from '../storage/instances.repository.js';
import { Tokens } from '../storage/tokens.repository.js';
import { JOIN_NEVER_COMPLETED } from '../steps/join-incidents.js';
import { BuildStandingsService } from '../../delivery/builds/active/build-standings.service.js';
import { StepResources } from '../steps/step-resources.js';
import { unparked } from '../steps/step-work.js';

/** What is retried: a token where it stands, or, without one, what is about the whole instance. */
export interface RetryTarget {
  uuid: string;
  tokenUuid: string | null;
}

/** An incident with its background work. */
export type Stop = IncidentRow & { job: ParkedJob };

/**
 * Work that the engine asks for anew, with the data of now; any other runs again as it was asked for, and so does a workflow that
 * has made a call that may not be made twice.
 */
const ASKED_ANEW: readonly string[] = ['WORKFLOW', 'CALL', 'CONTINUE'];

/** Finds background work that incidents stopped, and puts it back into the queue. */
@Injectable()
export class StoppedWork {
  constructor(
    private readonly database: Database,
    private readonly queue: JobQueueService,
    private readonly workflows: WorkflowRunsService,
    private readonly standings: BuildStandingsService,
    private readonly resources: StepResources,
  ) {}

  /** An id for a job that `putBack` adds; not inside of a transaction. */
  reserve(): Promise<number> {
    return this.resources.nextId('job');
  }

  /**
   * The open incidents of a token on its present visit, or of the instance as a whole.
   * @throws ProcessInstanceNotFoundError, ProcessTokenNotFoundError
   * @throws BuildWithdrawnError when the instance has yet to start, and its build was withdrawn
   */
  async openOf(target: RetryTarget): Promise<IncidentRow[]> {
    const { buildId, open } = await this.database.read(async (manager) => {
      const { id, buildId } = await Instances.demandHead(manager, target.uuid);
      const { tokenUuid } = target;
      const token = tokenUuid === null ? null : await Tokens.demand(manager, id, tokenUuid);
      const place = token && { tokenId: token.id, visit: token.visit };
      return { buildId, open: await Incidents.openAt(manager, id, place) };
    });
    if (open.some(({ job }) => job?.kind === 'START')) {
      await this.standings.demandNotWithdrawn(buildId);
    }
    return open;
  }

  /** Which of the calls of an activity the work is about; null when it is about none. */
  async callOf(
    manager: Sender,
    { kind, instanceId, payload }: ParkedJob,
  ): Promise<{ node: number; index: number } | null> {
    if (kind === 'CALL') {
      const { node, index } = decodeJob<'CALL'>(payload);
      return { node, index };
    }
    const child =
      kind === 'NOTIFY_PARENT' && instanceId !== null
        ? await Instances.findHead(manager, { id: instanceId })
        : null;
    // The token still waits where it called, so that only the index counts.
    return child === null || child.parentIndex === null ? null : { node: 0, index: child.parentIndex };
  }

  /** Whether it is a workflow that, begun anew with the data of now, would make calls again that may not be made twice. */
  async mustGoOn(manager: Sender, shard: number, job: ParkedJob): Promise<boolean> {
    const runKey = stoppedRunOf(job);
    return runKey !== null && this.workflows.mustGoOn(manager, runKey, shard);
  }

  /**
   * Queues the same work once more, in the caller's transaction. Who retries decides with it that calls whose outcome nobody knows
   * are made once more.
   */
  async putBack(manager: Sender, row: InstanceHead, job: ParkedJob, id: number): Promise<Date> {
    const runKey = stoppedRunOf(job);
    if (runKey !== null) {
      await this.workflows.release(manager, runKey, row.shard);
    }
    const now = this.resources.now();
    await this.queue.add(manager, [{ ...unparked(row, job, now), id, shard: row.shard }]);
    return now;
  }
}

/**
 * A called process that ended badly is called again; one that ended well has only to be told of again. What stopped no token is
 * asked for anew only where the engine knows how. A workflow has its action; without one it has ended well, and the process stopped behind
 * it: its answer is taken once more.
 */
export function isAskedAnew({ job: { kind, payload }, tokenId, actionSvcUuid }: Stop): boolean {
  if (tokenId === null) {
    return kind === 'CALL' || kind === 'START';
  }
  return kind === 'NOTIFY_PARENT'
    ? decodeJob<'NOTIFY_PARENT'>(payload).outcome.state !== 'FINISHED'
    : ASKED_ANEW.includes(kind) && (kind !== 'WORKFLOW' || actionSvcUuid !== null);
}

/** The refusal of a retry where nothing is open. */
export function nothingStopped({ tokenUuid }: RetryTarget): ProcessStateError {
  const what = tokenUuid === null ? 'the process instance as a whole' : 'this token';
  return new ProcessStateError('NOTHING_TO_RETRY', `Nothing of ${what} has stopped.`);
}

/** What helps in place of a retry. */
export function notInBackground({ tokenUuid }: RetryTarget, open: readonly IncidentRow[]): ProcessStateError {
  const whole = open.some(({ type }) => type === JOIN_NEVER_COMPLETED)
    ? 'no token can come to the join any more. Terminate the process instance, or go back by a UI action where there is one'
    : 'start the process again';
  const instead = tokenUuid === null ? whole : 'execute the UI action again';
  return new ProcessStateError('NOTHING_TO_RETRY', `There is nothing to retry: ${instead}.`);
}
