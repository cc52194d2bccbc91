import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Principal, callerHash } from '../../../../platform/user/principal.js';
import { Clock } from '../../../../platform/clock.js';
import { type JsonObject, jsonSize } from '#engine/json';
import { IdBlocks } from '../../../../store/ids/id-blocks.js';
import type { AppVersionKey } from '../../../../apps/apps.types.js';
import { AuditJobs } from '../audit/audit-jobs.service.js';
import { AuditAction, AuditOutcome } from '../../../../audit/model/audit.types.js';
import { JobQueueService } from '../../../../jobs/queue/job-queue.service.js';
import { TEST_RUN_JOB, NO_PROCESS, WorkflowRunOrigin } from '../model/workflow.types.js';
import { workflowLimits } from '../workflow.limits.js';
import { jobLimits } from '../../../../jobs/job.limits.js';
import { v7 as uuid } from 'uuid';
import { ValidationFailedError } from '../../../../platform/errors/request.errors.js';
import { SHARDS, shardOfHash } from '../../../../store/shards.js';
import { Database } from '../../../../store/database.js';
import { BuildDefinitionsService } from '../../../../delivery/builds/contents/build-definitions.service.js';
import { BuildWithdrawnError } from '../../../../delivery/builds/model/builds.errors.js';
import { BuildStatus } from '../../../../delivery/builds/model/builds.types.js';
import { BuildReadsService } from '../../../../delivery/builds/contents/build-reads.service.js';
import { repeatKey, type RepeatKey } from '../../../../idempotency/idempotency-key.dto.js';
import { RepeatsService } from '../../../../idempotency/repeats.service.js';
import { RunStore } from '../journal/run-store.js';
import type { StartedTestRunDto, TestRunParams } from './test-run.dto.js';

/** Stores the job and the audit log entry of a test run. */
@Injectable()
export class TestRunQueue {
  constructor(
    private readonly jobs: JobQueueService,
    private readonly ids: IdBlocks,
    private readonly audit: AuditJobs,
    private readonly clock: Clock,
  ) {}

  /** Maximum input size: the data limit of runs, and the payload limit of jobs with room for the other members. */
  get maxInputBytes(): number {
    return Math.min(workflowLimits.dataBytes, jobLimits.maxPayloadBytes - 1_000);
  }

  /** Returns an id for a job; must not run inside a transaction. */
  async nextId(): Promise<number> {
    await this.audit.prepare();
    return this.ids.next('job');
  }

  /** Adds the job of a run and its audit log entry in the shard of the run. */
  async add(
    manager: EntityManager,
    principal: Principal,
    run: { jobId: number; shard: number; id: string; key: TestRunParams & AppVersionKey },
    payload: JsonObject,
  ): Promise<void> {
    const { jobId, shard, id: workflowRunId, key } = run;
    const { appId, appVersionId, buildId, workflowName: workflow } = key;
    const job = { id: jobId, shard, kind: TEST_RUN_JOB, availableAt: this.clock.now(), payload };
    await this.jobs.add(manager, [job]);
    const details = { buildId, workflow, workflowRunId };
    const what = { action: AuditAction.WorkflowTest, outcome: AuditOutcome.Ok };
    await this.audit.record(manager, principal, { ...what, appId, appVersionId, details }, shard);
  }
}

interface TestRunRequest {
  principal: Principal;
  key: TestRunParams & AppVersionKey;
  input: JsonObject;
}

/** Starts test runs of workflows, without a process. */
@Injectable()
export class TestRunsService {
  constructor(
    private readonly builds: BuildReadsService,
    private readonly definitions: BuildDefinitionsService,
    private readonly store: RunStore,
    private readonly queue: TestRunQueue,
    private readonly repeats: RepeatsService,
    private readonly database: Database,
  ) {}

  /** @returns version from which the build was made @throws BuildNotFoundError, WorkflowNotFoundError */
  async requireWorkflow({ appId, buildId, workflowName }: TestRunParams): Promise<AppVersionKey> {
    const { appVersionId } = await this.builds.summary(appId, buildId);
    await this.definitions.workflow(buildId, appId, workflowName);
    return { appId, appVersionId };
  }

  /**
   * Creates a run and its job; requests with the same Idempotency-Key share one run.
   * @throws BuildNotFoundError, WorkflowNotFoundError, IdempotencyKeyReusedError
   * @throws ValidationFailedError when the input exceeds the data limit of runs, or the key is invalid
   */
  async start(
    principal: Principal,
    key: TestRunParams,
    input: JsonObject,
    idempotencyKey: string | undefined,
  ): Promise<StartedTestRunDto> {
    const version = await this.requireWorkflow(key);
    const maxBytes = this.queue.maxInputBytes;
    if (jsonSize(input) > maxBytes) {
      const rule = `must have at most ${maxBytes} bytes as JSON`;
      throw new ValidationFailedError([{ field: '(body)', rule }]);
    }
    const path = ['test-run', key.appId, key.buildId, key.workflowName];
    const repeat = repeatKey(principal, path, idempotencyKey, input);
    const request = { principal, key: { ...key, ...version }, input };
    return repeat === undefined
      ? this.begin(request, undefined)
      : this.repeats.once(repeat, () => this.begin(request, repeat));
  }

  private async begin(
    { principal, key, input }: TestRunRequest,
    repeat: RepeatKey | undefined,
  ): Promise<StartedTestRunDto> {
    const { appId, buildId, workflowName: workflow } = key;
    if ((await this.builds.summary(appId, buildId)).status === BuildStatus.Withdrawn) {
      throw new BuildWithdrawnError();
    }
    const runKey = uuid();
    const jobId = await this.queue.nextId();
    // The unique key of a stored answer applies within one shard, so the run is in the same shard.
    const shard = repeat === undefined ? jobId % SHARDS : shardOfHash(repeat.keyHash);
    const run = { runKey, appId, buildId, workflow, shard, origin: WorkflowRunOrigin.Test };
    const owner = { processInstanceUuid: NO_PROCESS, processTokenId: null, parentRunId: null };
    const row = this.store.rowOf({ ...run, ...owner });
    const started = { workflowRunId: row.id };
    await this.database.write(async (manager) => {
      if (repeat !== undefined) {
        await this.repeats.keep(manager, repeat, { shard, answer: started, now: row.startedAt });
      }
      await this.store.open(manager, row);
      const payload = { runKey, appId, buildId, workflow, input, caller: callerHash(principal) };
      await this.queue.add(manager, principal, { jobId, shard, id: row.id, key }, payload);
    });
    return started;
  }
}
