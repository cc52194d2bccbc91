import { Injectable } from '@nestjs/common';
import { runAfterYield } from '#engine/support';
import type { JsonObject } from '#engine/json';
import { requestContext } from '../../platform/observability/logging/request-context.js';
import { orderedUuid } from '../../platform/ordered-uuid.js';
import type { UserReference } from '../../platform/user/user-reference.js';
import { inSpan } from '../../platform/observability/tracing/spans.js';
import { Database } from '../../store/database.js';
import { SHARDS, placedId, shardOf, ShardGroups } from '../../store/shards.js';
import type { SharedTransaction } from '../../store/groups/shared-transaction.js';
import { afterCommit } from '../../store/groups/write-progress.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import { EngineIncident, type StepResult, newContent, newInstance, step } from '#engine/tokens';
import { faultOf } from './incident-records.js';
import { IncidentsService } from './incidents.service.js';
import { NO_PARENT, type InstanceRow, type ParentLink } from '../storage/process-instance.entity.js';
import { expiryOf } from './instance-status.js';
import type { RunnableDefinition } from '../definitions/runnable-definitions.service.js';
import { StepNotices, describeStepInSpan } from './step-notices.js';
import { StepResources } from './step-resources.js';
import { StepWriter } from './step-writer.js';
import type { StepBase } from './step.types.js';
import type { IncidentRow } from '../storage/incidents.repository.js';

export interface StartRequest {
  definition: RunnableDefinition;
  /** Index of the start event. */
  startNode: number;
  data: JsonObject;
  platform: string | null;
  starter: string | null;
  startedBy: UserReference | null;
  /** Null for a process that no other process called. */
  parent: ParentLink | null;
  /** Shard of rows that the start belongs to; null for any. A called process is in the shard of its caller. */
  shard: number | null;
  rootAppId: string;
  depth: number;
  /** The background job whose effect this is; the transaction completes it. */
  job?: Job;
  /** Whether a process that stops at once is stored with its incident. Otherwise the start throws the incident. */
  keepsStopped: boolean;
}

/** Properties of a start by a timer or a message. */
export const NO_CALLER = {
  platform: null,
  starter: null,
  startedBy: null,
  parent: null,
  depth: 0,
  keepsStopped: true,
} as const;

interface NewInstance {
  readonly request: StartRequest;
  readonly row: InstanceRow;
  readonly now: Date;
}

/** An instance that the engine started in memory. */
interface StartedInstance extends NewInstance {
  readonly result: StepResult;
}

/** An instance that stopped at once: CREATED, without tokens, with the incident that can be retried. */
interface StoppedInstance extends NewInstance {
  readonly error: EngineIncident;
  readonly incident: IncidentRow;
}

export type ProcessStart = StartedInstance | StoppedInstance;

/** Stores what belongs to a start, such as the answer for an Idempotency-Key. */
type StoreBefore = (transaction: SharedTransaction, start: ProcessStart) => Promise<void>;

/**
 * Starts instances. The engine makes the step in memory, because nothing of the instance is stored yet. Then one transaction stores what
 * belongs to the start, and after it the instance.
 */
@Injectable()
export class ProcessStarter {
  constructor(
    private readonly database: Database,
    private readonly writer: StepWriter,
    private readonly resources: StepResources,
    private readonly notices: StepNotices,
    private readonly incidents: IncidentsService,
    private readonly groups: ShardGroups,
  ) {}

  /**
   * Starts an instance.
   * @param store runs in the transaction before the instance is written; nothing is stored if it throws. Retries may run it again
   * @returns what was stored
   * @throws QuotaExceededError when the application or the caller may start no more; nothing is stored
   * @throws EngineRefusal when the data is too large
   * @throws EngineIncident when the process stops before its first wait state, unless the request keeps it
   */
  start(request: StartRequest, store?: StoreBefore): Promise<ProcessStart> {
    return inSpan('process start', {}, async () => {
      const giveBack = await this.resources.takeStartQuota(request, request.data, request.parent !== null);
      try {
        return await this.startOrStop(request, store);
      } catch (error) {
        giveBack();
        throw error;
      }
    });
  }

  private async startOrStop(request: StartRequest, store?: StoreBefore): Promise<ProcessStart> {
    try {
      return await this.resources.withIds(async () => {
        const started = await runAfterYield(() => this.startInMemory(request));
        describeStepInSpan(started.row, 'START');
        return this.commit(started, store, this.writer.isAlone(started.row, started.result));
      });
    } catch (error) {
      if (!(error instanceof EngineIncident) || !request.keepsStopped) {
        throw error;
      }
      return this.resources.withIds(async () =>
        this.commit(await this.stoppedStart(request, error), store, true),
      );
    }
  }

  /** @param isAlone decided in advance: `store` writes before `write`, and leaving the group then would roll back all of it */
  private async commit(
    start: ProcessStart,
    store: StoreBefore | undefined,
    isAlone: boolean,
  ): Promise<ProcessStart> {
    await this.database.writeTogether(async (transaction) => {
      transaction.requireShardGroup(this.groups.nameOf(start.row.shard));
      await store?.(transaction, start);
      await this.write(transaction, start);
    }, isAlone);
    return start;
  }

  /** @throws EngineIncident when the process family would exceed its limits */
  private async write(transaction: SharedTransaction, start: ProcessStart): Promise<void> {
    const { row, now, request } = start;
    if ('incident' in start) {
      await this.incidents.writeFailedStart(transaction, row, start.incident, request);
      return;
    }
    const { result } = start;
    const { takeId } = this.resources;
    const origin = { actor: row.startedBy?.userName ?? null, requestId: requestContext()?.requestId ?? null };
    const base: StepBase = { row, isNew: true, tokens: new Map(), definition: request.definition };
    const step = { ...base, transaction, result, takeId, now, origin, job: request.job };
    const raised = await this.writer.write(step);
    afterCommit(transaction, () => {
      this.resources.chargeGrowth(row, request.data, result.instance.data);
      this.notices.reportStep(row, raised, result.warnings);
    });
  }

  private startInMemory(request: StartRequest): StartedInstance {
    const now = this.resources.now();
    const row = newRow(request, this.resources.takeId('process-instance'), now);
    const { id } = row;
    const { definition, startNode, data, parent } = request;
    definition.requireUndamaged();
    const instance = newInstance({ id, uuid: row.uuid, parentUuid: parent?.parentUuid ?? null });
    const command = { kind: 'START', startNode, data } as const;
    const context = this.resources.engineContext(now);
    return { request, row, now, result: step(definition.runtime, instance, command, context) };
  }

  private async stoppedStart(request: StartRequest, error: EngineIncident): Promise<StoppedInstance> {
    const now = this.resources.now();
    const row = { ...newRow(request, this.resources.takeId('process-instance'), now), expiresAt: null };
    const fault = faultOf(error, request.definition, { tokenId: null, visit: null });
    const incident = await this.incidents.ofFailedStart(row, request.startNode, fault);
    return { request, row, now, error, incident };
  }
}

/** @param sequence unique among instances */
function newRow(request: StartRequest, sequence: number, now: Date): InstanceRow {
  const { definition, data, platform, starter, startedBy, parent, rootAppId, depth } = request;
  const { build } = definition;
  const shard = parent === null ? (request.shard ?? sequence % SHARDS) : shardOf(parent.parentId);
  return {
    id: placedId(sequence, shard),
    uuid: orderedUuid(now, shard),
    shard,
    appId: build.appId,
    rootAppId,
    buildId: build.buildId,
    buildStatus: build.buildStatus,
    definitionId: build.id,
    definitionSvcUuid: build.svcUuid,
    processName: build.name,
    platform,
    starter,
    startedBy,
    ...(parent ?? NO_PARENT),
    depth,
    startedAt: now,
    expiresAt: expiryOf(definition, now),
    state: 'CREATED',
    rev: 1,
    seq: 0,
    openIncidents: 0,
    modifiedAt: now,
    endedAt: null,
    content: { ...newContent(data), parked: [] },
  };
}
