import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import { Clock } from '../../../common/clock.js';
import type { JsonObject } from '../../../common/json.js';
import { IdBlocks } from '../../../database/id-blocks.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AuditJobs } from '../audit/audit-jobs.service.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { TEST_RUN_JOB, type TestRunKey } from '../model/workflow.types.js';
import { workflowLimits } from '../workflow.limits.js';
import { jobLimits } from '../../jobs/job.limits.js';

/** A job that is added, and where. */
interface JobPlace {
  id: number;
  shard: number;
}

/** Two things that the start of a test run leaves behind: its job, and the entry of the audit log. */
@Injectable()
export class TestRunQueue {
  constructor(
    private readonly jobs: JobQueueService,
    private readonly ids: IdBlocks,
    private readonly audit: AuditJobs,
    private readonly clock: Clock,
  ) {}

  /** Bytes that a run may have as data, and that a job can carry with room for what names the run. */
  get maxInputBytes(): number {
    return Math.min(workflowLimits.dataBytes, jobLimits.maxPayloadBytes - 1_000);
  }

  /** Not inside of a transaction. */
  async nextId(): Promise<number> {
    await this.audit.prepare();
    return this.ids.next('job');
  }

  async add(manager: EntityManager, { id, shard }: JobPlace, payload: JsonObject): Promise<void> {
    await this.jobs.add(manager, [{ id, shard, kind: TEST_RUN_JOB, availableAt: this.clock.now(), payload }]);
  }

  wake(): void {
    this.jobs.wake();
  }

  async record(
    manager: EntityManager,
    principal: Principal,
    { appId, appVersionId, buildId, workflow }: TestRunKey & AppVersionKey,
    { id: workflowRunId, shard }: { id: string; shard: number },
  ): Promise<void> {
    const details = { buildId, workflow, workflowRunId };
    const entry = {
      action: AuditAction.WorkflowTest,
      outcome: AuditOutcome.Ok,
      appId,
      appVersionId,
      details,
    };
    await this.audit.record(manager, principal, entry, shard);
  }
}
