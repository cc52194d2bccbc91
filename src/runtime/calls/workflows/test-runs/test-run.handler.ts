import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { JsonObject } from '#engine/json';
import { Database } from '../../../../store/database.js';
import { JobHandlersService } from '../../../../jobs/queue/job-handlers.service.js';
import { JobQueueService } from '../../../../jobs/queue/job-queue.service.js';
import type { Job, JobContext, JobHandler } from '../../../../jobs/model/job-queue.types.js';
import { RunStore } from '../journal/run-store.js';
import { WorkflowRunsService } from '../runs/workflow-runs.service.js';
import { NO_PROCESS, TEST_RUN_JOB, WorkflowRunOrigin } from '../model/workflow.types.js';
import { WorkflowBpmnError, WorkflowFailedError } from '../model/workflows.errors.js';
import { workflowLimits } from '../workflow.limits.js';
import { jobLimits } from '../../../../jobs/job.limits.js';

/** Renewals per lease time, so that some may fail. */
const RENEWALS = 4;

interface Work extends JsonObject {
  runKey: string;
  appId: string;
  buildId: string;
  workflow: string;
  input: JsonObject;
  /** Hash of the caller who started it. */
  caller: string;
}

/** Executes test runs in the background. The outcome is stored with the run. */
@Injectable()
export class TestRunHandler implements JobHandler, OnModuleInit {
  readonly kind = TEST_RUN_JOB;
  readonly leaseMs: number;
  private readonly checkMs: number;

  constructor(
    private readonly handlers: JobHandlersService,
    private readonly queue: JobQueueService,
    private readonly workflows: WorkflowRunsService,
    private readonly store: RunStore,
    private readonly database: Database,
  ) {
    this.leaseMs = Math.max(workflowLimits.leaseMs, jobLimits.leaseMs + 1);
    this.checkMs = Math.min(workflowLimits.cancelCheckMs, this.leaseMs / RENEWALS);
  }

  onModuleInit(): void {
    this.handlers.register(this);
  }

  async run(job: Job, context: JobContext): Promise<void> {
    const { runKey, appId, buildId, workflow, input, caller } = job.payload as Work;
    const renewal = setInterval(() => void context.heartbeat().catch(() => undefined), this.checkMs);
    try {
      await this.workflows.run({
        runKey,
        appId,
        buildId,
        workflow,
        input,
        payer: { appId, caller },
        origin: WorkflowRunOrigin.Test,
        processInstanceUuid: NO_PROCESS,
        parentProcessInstanceUuid: null,
        shard: job.shard,
        processTokenId: null,
        signal: context.signal,
        hold: (manager) => this.queue.hold(manager, job),
      });
    } catch (error) {
      // The run stores its own failure; any other error means an interruption, so the job is retried.
      if (!(error instanceof WorkflowFailedError || error instanceof WorkflowBpmnError)) {
        throw error;
      }
    } finally {
      clearInterval(renewal);
    }
    await this.database.write((manager) => this.queue.complete(manager, job));
  }

  async giveUp(job: Job): Promise<void> {
    const { runKey } = job.payload as Work;
    await this.database.write(async (manager) => {
      await this.queue.complete(manager, job);
      await this.store.giveUp(manager, runKey, job.shard);
    });
  }
}
