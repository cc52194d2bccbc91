import { Injectable } from '@nestjs/common';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
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
import { BuildStatusService } from '../../delivery/builds/active/build-status.service.js';
import { StepResources } from '../steps/step-resources.js';
import { unparked } from '../steps/step-work.js';

/** Target of a retry: a token, or without one the instance as a whole. */
export interface RetryTarget {
  uuid: string;
  tokenUuid: string | null;
}

/** An incident with its background work. */
export type Stop = IncidentRow & { job: ParkedJob };

/** Kinds of work that the engine requests again with the current data. Other work runs again unchanged. */
const REQUESTABLE: readonly string[] = ['WORKFLOW', 'CALL', 'CONTINUE'];

/** Finds background work that incidents stopped, and queues it again. */
@Injectable()
export class StoppedWork {
  constructor(
    private readonly database: Database,
    private readonly queue: JobQueueService,
    private readonly workflows: WorkflowRunsService,
    private readonly buildStatus: BuildStatusService,
    private readonly resources: StepResources,
  ) {}

  /** Reserves the id of the job of `requeue`. Not inside a transaction. */
  reserve(): Promise<number> {
    return this.resources.nextId('job');
  }

  /**
   * Returns the open incidents of a token on its current visit, or of the instance as a whole.
   * @throws ProcessInstanceNotFoundError, ProcessTokenNotFoundError
   * @throws BuildWithdrawnError when the instance has not started and its build was withdrawn
   */
  async openOf(target: RetryTarget): Promise<IncidentRow[]> {
    const { buildId, open } = await this.database.read(async (manager) => {
      const { id, buildId } = await Instances.requireHead(manager, target.uuid);
      const { tokenUuid } = target;
      const token = tokenUuid === null ? null : await Tokens.require(manager, id, tokenUuid);
      const place = token && { tokenId: token.id, visit: token.visit };
      return { buildId, open: await Incidents.openAt(manager, id, place) };
    });
    if (open.some(({ job }) => job?.kind === 'START')) {
      await this.buildStatus.requireNotWithdrawn(buildId);
    }
    return open;
  }

  /** Returns which call of an activity the work belongs to; null if none. */
  async callOf(
    executor: SqlExecutor,
    { kind, instanceId, payload }: ParkedJob,
  ): Promise<{ node: number; index: number } | null> {
    if (kind === 'CALL') {
      const { node, index } = decodeJob<'CALL'>(payload);
      return { node, index };
    }
    const child =
      kind === 'NOTIFY_PARENT' && instanceId !== null
        ? await Instances.findHead(executor, { id: instanceId })
        : null;
    // The token still waits at the calling node, so only the index matters.
    return child === null || child.parentIndex === null ? null : { node: 0, index: child.parentIndex };
  }

  /** Whether the job is a workflow whose run must be resumed, because a new run would repeat non-repeatable calls. */
  async mustResume(executor: SqlExecutor, shard: number, job: ParkedJob): Promise<boolean> {
    const runKey = stoppedRunOf(job);
    return runKey !== null && this.workflows.mustResume(executor, runKey, shard);
  }

  /**
   * Queues the same work again, in the caller's transaction. A retry is the decision to repeat calls of unknown outcome.
   */
  async requeue(executor: SqlExecutor, row: InstanceHead, job: ParkedJob, id: number): Promise<Date> {
    const runKey = stoppedRunOf(job);
    if (runKey !== null) {
      await this.workflows.release(executor, runKey, row.shard);
    }
    const now = this.resources.now();
    await this.queue.add(executor, [{ ...unparked(row, job, now), id, shard: row.shard }]);
    return now;
  }
}

/**
 * Whether the engine can request stopped work again. A called process that failed is called again; for one that succeeded only the
 * notification runs again. Work without a stopped token can be requested again only if it is a call or a start. A workflow without an action
 * has succeeded and the process stopped after it, so its output is used again.
 */
export function isRequestable({ job: { kind, payload }, tokenId, actionSvcUuid }: Stop): boolean {
  if (tokenId === null) {
    return kind === 'CALL' || kind === 'START';
  }
  return kind === 'NOTIFY_PARENT'
    ? decodeJob<'NOTIFY_PARENT'>(payload).outcome.state !== 'FINISHED'
    : REQUESTABLE.includes(kind) && (kind !== 'WORKFLOW' || actionSvcUuid !== null);
}

/** Returns the error of a retry without open incidents. */
export function nothingToRetryError({ tokenUuid }: RetryTarget): ProcessStateError {
  const what = tokenUuid === null ? 'The process instance as a whole' : 'This token';
  return new ProcessStateError('NOTHING_TO_RETRY', `${what} has no failed work to retry.`);
}

/** Returns the error of a retry that names what to do instead. */
export function notRetryableError(
  { tokenUuid }: RetryTarget,
  open: readonly IncidentRow[],
): ProcessStateError {
  const whole = open.some(({ type }) => type === JOIN_NEVER_COMPLETED)
    ? 'no token can reach the join any more. Terminate the process instance, or go back with a UI action if there is one'
    : 'start the process again';
  const instead = tokenUuid === null ? whole : 'execute the UI action again';
  return new ProcessStateError('NOTHING_TO_RETRY', `There is nothing to retry: ${instead}.`);
}
