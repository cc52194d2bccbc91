import { Injectable } from '@nestjs/common';
import { inTurn } from '#engine/support';
import type { JsonObject } from '#engine/json';
import { requestContext } from '../../platform/observability/logging/request-context.js';
import { orderedUuid } from '../../platform/ordered-uuid.js';
import type { UserReference } from '../../platform/user/user-reference.js';
import { inSpan } from '../../platform/observability/tracing/spans.js';
import { Database } from '../../store/database.js';
import { SHARDS, placedId, shardOf, ShardGroups } from '../../store/shards.js';
import type { Sender } from '../../store/groups/step-transaction.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import { EngineIncident, type StepResult, newContent, newInstance, step } from '#engine/tokens';
import { faultOf } from './incident-records.js';
import { IncidentsService } from './incidents.service.js';
import { NO_PARENT, type InstanceRow, type ParentLink } from '../storage/process-instance.entity.js';
import { expiryOf } from './instance-status.js';
import type { RunnableDefinition } from '../definitions/runnable-definitions.service.js';
import { StepNotices, tellStep } from './step-notices.js';
import { StepResources } from './step-resources.js';
import { StepWriter } from './step-writer.js';

export interface StartRequest {
  definition: RunnableDefinition;
  /** Index of the start event. */
  startNode: number;
  data: JsonObject;
  platform: string | null;
  starter: string | null;
  startedBy: UserReference | null;
  /** Null for one that was not called by another. */
  parent: ParentLink | null;
  /** Where what belongs to the start is stored already; null where nothing is. A called process is where its caller is. */
  shard: number | null;
  rootAppId: string;
  depth: number;
}

/** What a start by a timer or a message has of these. */
export const BY_NOBODY = { platform: null, starter: null, startedBy: null, parent: null, depth: 0 } as const;

/** An instance that is ready to be stored. */
export interface PreparedStart {
  row: InstanceRow;
  result: StepResult;
  now: Date;
}

/** An instance that stopped at once. */
export interface FailedStart {
  row: InstanceRow;
  incident: EngineIncident;
  incidentUuid: string;
  now: Date;
}

export interface StartPlan<Answer> {
  /** The background job whose effect this is; it is completed in the transaction. */
  job?: Job;
  /** Called first in the transaction; without it nothing is answered. */
  begin?(manager: Sender, prepared: PreparedStart): Promise<Answer>;
  /**
   * Called in its place, first in the transaction that stores an instance which stopped at once. Without it nothing is stored, and
   * the start throws. It completes the job, if there is one.
   */
  stopped?(manager: Sender, failed: FailedStart): Promise<Answer>;
}

/** Starts instances: the step is made in memory, since nothing of it is stored yet, and then written as a whole. */
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
   * Starts an instance. One that stops at once is stored as CREATED, with the incident, if the plan says what else belongs to that.
   * @throws QuotaExceededError when the application or the caller may start no more; nothing is stored
   * @throws EngineRefusal when the data is too large
   * @throws EngineIncident when the process stops before its first wait state and the plan has no `stopped`
   */
  start<Answer>(request: StartRequest, plan: StartPlan<Answer>): Promise<Answer> {
    return inSpan('process start', {}, async () => {
      const giveBack = await this.resources.demandStart(request, request.data, request.parent !== null);
      return this.startOrStop(request, plan).catch((error: unknown) => {
        giveBack();
        throw error;
      });
    });
  }

  private async startOrStop<Answer>(request: StartRequest, plan: StartPlan<Answer>): Promise<Answer> {
    try {
      return await this.resources.withIds(() => this.commit(request, plan));
    } catch (error) {
      if (!(error instanceof EngineIncident) || plan.stopped === undefined) {
        throw error;
      }
      const stopped = plan.stopped.bind(plan);
      return this.resources.withIds(() => this.recordFailure(request, error, stopped));
    }
  }

  private async commit<Answer>(request: StartRequest, plan: StartPlan<Answer>): Promise<Answer> {
    const prepared = await inTurn(() => this.prepare(request));
    const { row, result, now } = prepared;
    tellStep(row, 'START');
    const origin = { actor: row.startedBy?.userName ?? null, requestId: requestContext()?.requestId ?? null };
    const base = { row, isNew: true, tokens: new Map(), definition: request.definition };
    // A start that leaves its group in `write` would break it: by then it has written.
    const { answer, raised } = await this.database.writeTogether(
      async (transaction) => {
        transaction.join(this.groups.nameOf(row.shard));
        const answer = (await plan.begin?.(transaction, prepared)) as Answer;
        const { takeId } = this.resources;
        const step = { ...base, transaction, result, takeId, now, origin, job: plan.job };
        return { answer, raised: await this.writer.write(step) };
      },
      this.writer.isAlone(base, result),
    );
    this.resources.grown(row, request.data, result.instance.data);
    this.notices.committed(row, raised, result.warnings);
    return answer;
  }

  private prepare(request: StartRequest): PreparedStart {
    const now = this.resources.now();
    const row = newRow(request, this.resources.takeId('process-instance'), now);
    const { id } = row;
    const { definition, startNode, data, parent } = request;
    definition.demandWhole();
    const instance = newInstance({ id, uuid: row.uuid, parentUuid: parent?.parentUuid ?? null });
    const command = { kind: 'START', startNode, data } as const;
    const context = this.resources.engineContext(now);
    return { row, now, result: step(definition.runtime, instance, command, context) };
  }

  private async recordFailure<Answer>(
    request: StartRequest,
    incident: EngineIncident,
    stopped: NonNullable<StartPlan<Answer>['stopped']>,
  ): Promise<Answer> {
    const now = this.resources.now();
    const row = { ...newRow(request, this.resources.takeId('process-instance'), now), expiresAt: null };
    const fault = faultOf(incident, request.definition, { tokenId: null, visit: null });
    return this.incidents.recordFailedStart(row, request, fault, (manager, incidentUuid) =>
      stopped(manager, { row, incident, incidentUuid, now }),
    );
  }
}

/** @param sequence a number that no other instance gets */
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
