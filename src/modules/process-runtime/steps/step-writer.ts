import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { NewJob } from '../../jobs/model/job-queue.types.js';
import { WorkflowRunsService } from '../../workflows/runs/workflow-runs.service.js';
import type { InstanceState, InstanceStatus, StepResult, TokenState } from '../engine/state/engine.types.js';
import {
  continued,
  dueAt,
  encodeJob,
  expiryKey,
  outlives,
  type RuntimeJob,
  stoppedRunOf,
  tokenOf,
  VISIT_KINDS,
} from './runtime-job.js';
import type { NewEvent } from '../storage/events.repository.js';
import type { IncidentHead, IncidentRow } from '../storage/incidents.repository.js';
import type { InstanceContent, InstanceRow, ParkedJob } from '../storage/instance.row.js';
import { waitKey } from '../storage/messages.repository.js';
import { RuntimeRows } from '../storage/runtime-rows.js';
import { expiryJob, expiryOf } from './expiry.js';
import { JoinIncidents } from './join-incidents.js';
import type { StepBase, WriteContext } from './step.types.js';
import { tokenChanges } from './token-changes.js';

/** What came of writing a step. */
export interface Written {
  hasWork: boolean;
  raised: readonly IncidentRow[];
}

const ENDED: ReadonlySet<InstanceStatus> = new Set([
  'FINISHED',
  'FAILED',
  'EXPIRED',
  'TERMINATED',
  'DISMISSED',
  'ABORTED',
]);

/** Whether an instance has come to its end. */
export function hasEnded(state: InstanceStatus): boolean {
  return ENDED.has(state);
}

/** Writes what a step changed, in the order in which everybody locks: instance, tokens, jobs. */
@Injectable()
export class StepWriter {
  constructor(
    private readonly rows: RuntimeRows,
    private readonly queue: JobQueueService,
    private readonly workflows: WorkflowRunsService,
    private readonly joins: JoinIncidents,
  ) {}

  /** @returns whether background jobs were added: then wake the workers after the commit; and the incidents that were raised */
  async write(
    manager: EntityManager,
    base: StepBase,
    result: StepResult,
    context: WriteContext,
  ): Promise<Written> {
    const { row } = base;
    const joins = await this.joins.changes(manager, base, result, context);
    const gone = await this.closedIncidents(manager, base, result, context.now);
    const closed = [...gone, ...joins.closed.filter(({ id }) => gone.every((other) => other.id !== id))];
    const closing = closingEvents(closed, result.instance.seq);
    const raising = raisingEvents(joins.raised, result.instance.seq + closing.length);
    const events = [...result.events, ...closing, ...raising];
    await this.writeInstance(manager, base, result, {
      seq: result.instance.seq + closing.length + raising.length,
      openIncidents: row.openIncidents - closed.length + joins.raised.length,
      now: context.now,
    });
    await this.rows.tokens.write(manager, row, tokenChanges(base, result), context.now);
    await this.rows.events.insert(manager, row, events, { ...context.origin, at: context.now });
    await this.joins.write(manager, row, joins, context.now);
    await this.endWork(manager, base, result, context);
    return { hasWork: await this.addWork(manager, base, result, context), raised: joins.raised };
  }

  private async writeInstance(
    manager: EntityManager,
    base: StepBase,
    { instance }: StepResult,
    { seq, openIncidents, now }: { seq: number; openIncidents: number; now: Date },
  ): Promise<void> {
    const { row, isNew } = base;
    const ended = hasEnded(instance.state);
    const content: InstanceContent = {
      data: instance.data,
      joins: instance.joins,
      returnPoints: instance.returnPoints,
      executions: instance.executions,
      pending: instance.pending,
      continues: instance.continues,
      backCounter: instance.backCounter,
      parked: ended || isReleased(row, instance.state) ? [] : row.content.parked,
    };
    const next = {
      state: instance.state,
      seq,
      openIncidents,
      content,
      modifiedAt: now,
      endedAt: ended ? (row.endedAt ?? now) : null,
      expiresAt: expiryAfter(base, now),
    };
    await (isNew
      ? this.rows.instances.insert(manager, { ...row, ...next })
      : this.rows.instances.update(manager, row, next));
  }

  /** An incident is over when its token has gone on to another visit or has ended; one of the whole instance with that. */
  private async closedIncidents(
    manager: EntityManager,
    { row, tokens }: StepBase,
    { instance }: StepResult,
    now: Date,
  ): Promise<IncidentHead[]> {
    if (row.openIncidents === 0) {
      return [];
    }
    const left = [...tokens.values()].map(({ state }) => state).filter((token) => hasLeft(token, instance));
    const { incidents } = this.rows;
    const closed = [
      ...(await incidents.openOfTokens(
        manager,
        row.id,
        left.map(({ id }) => id),
      )),
      ...(hasEnded(instance.state) ? await incidents.openAt(manager, row.id, null) : []).filter(
        ({ job }) => job === null || !outlives(job, instance.state),
      ),
    ];
    await this.rows.incidents.close(
      manager,
      closed.map(({ id }) => id),
      'RESOLVED',
      now,
    );
    return closed;
  }

  private async endWork(
    manager: EntityManager,
    { row, tokens, definition }: StepBase,
    result: StepResult,
    { job, retried }: WriteContext,
  ): Promise<void> {
    if (job !== undefined) {
      await this.queue.complete(manager, job);
    }
    const runKey = retried === undefined ? null : stoppedRunOf(retried);
    if (runKey !== null) {
      // Who retries decides with it that calls whose outcome nobody knows are made once more.
      await this.workflows.release(manager, runKey);
    }
    const cancelled = result.cancelledTokens;
    const withJobs = cancelled.filter((id) => tokens.get(id)?.hasJobs === true);
    const withWaits = cancelled.filter((id) => tokens.get(id)?.hasWaits === true);
    await this.queue.cancelOfToken(manager, row.id, withJobs, [...VISIT_KINDS]);
    if (definition.runtime.startsWorkflows) {
      await this.workflows.cancel(manager, row.uuid, withJobs);
    }
    await this.rows.messages.removeWaitsOf(manager, row.id, withWaits);
    if (row.expiresAt !== null && hasEnded(result.instance.state)) {
      await this.queue.cancelKeys(manager, [expiryKey(row.id)]);
    }
  }

  private async addWork(
    manager: EntityManager,
    base: StepBase,
    result: StepResult,
    { ids, now, retried }: WriteContext,
  ): Promise<boolean> {
    const { row } = base;
    const waits = result.waits.map((wait) => ({
      ...wait,
      id: ids.wait(),
      instanceId: row.id,
      key: waitKey({ ...wait, rootAppId: row.rootAppId }),
    }));
    await this.rows.messages.addWaits(manager, row, waits);
    const keys = new Set(waits.map(({ key }) => key));
    if (isReleased(row, result.instance.state)) {
      (await this.rows.messages.keysOf(manager, row.id)).forEach((key) => keys.add(key));
    }
    const added = newJobs(base, result, [...keys], { now, retried }).map((job) => ({
      ...job,
      id: ids.job(),
    }));
    if (added.length > 0) {
      await this.queue.add(manager, added);
    }
    return added.length > 0;
  }
}

function hasLeft({ id, visit }: TokenState, { tokens }: InstanceState): boolean {
  return tokens.get(id)?.visit !== visit;
}

function isReleased(row: InstanceRow, state: InstanceStatus): boolean {
  return row.state === 'ONHOLD' && state === 'STARTED';
}

/** One that could not start has none yet; its time begins when it starts after all. */
function expiryAfter({ row, isNew, definition }: StepBase, now: Date): Date | null {
  return !isNew && row.state === 'CREATED' ? expiryOf(definition, now) : row.expiresAt;
}

function newJobs(
  base: StepBase,
  result: StepResult,
  keys: string[],
  { now, retried }: Pick<WriteContext, 'now' | 'retried'>,
): NewJob[] {
  const { row } = base;
  const jobs: RuntimeJob[] = [
    ...result.jobs,
    ...keys.map((key) => ({ kind: 'MATCH_MESSAGE' as const, key })),
  ];
  const parked = isReleased(row, result.instance.state) ? row.content.parked : [];
  const expiresAt = row.state === 'CREATED' ? expiryAfter(base, now) : null;
  const expiry = expiresAt !== null && !hasEnded(result.instance.state) ? [expiryJob(row.id, expiresAt)] : [];
  return [
    ...jobs.map((job) => toNewJob(row, job, now)),
    ...parked.map((job) => unparked(row, job, now)),
    ...expiry,
  ].map((job) => ({ ...job, shard: row.shard, payload: continued(job, retried) }));
}

function toNewJob(row: { id: number }, job: RuntimeJob, now: Date): NewJob {
  const tokenId = tokenOf(job);
  return {
    kind: job.kind,
    availableAt: dueAt(job, now),
    payload: encodeJob(job),
    instanceId: row.id,
    ...(tokenId === null ? {} : { tokenId }),
  };
}

/** A parked job as it goes on. */
export function unparked(
  row: { id: number },
  { kind, instanceId, tokenId, payload }: ParkedJob,
  now: Date,
): NewJob {
  return {
    kind,
    availableAt: now,
    payload,
    instanceId: instanceId ?? row.id,
    ...(tokenId === null ? {} : { tokenId }),
  };
}

function raisingEvents(incidents: readonly IncidentRow[], seq: number): NewEvent[] {
  return incidents.map(({ uuid, tokenId, node, source, type }, index) => ({
    seq: seq + index + 1,
    kind: 'INCIDENT_RAISED',
    tokenId,
    node,
    data: { incident: uuid, source, type },
  }));
}

function closingEvents(incidents: readonly IncidentHead[], seq: number): NewEvent[] {
  return incidents.map(({ uuid, tokenId, node }, index) => ({
    seq: seq + index + 1,
    kind: 'INCIDENT_CLOSED',
    tokenId,
    node,
    data: { incident: uuid, state: 'RESOLVED' },
  }));
}
