import { Injectable } from '@nestjs/common';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { Job, JobContext, JobHandler } from '../../jobs/model/job-queue.types.js';
import { WorkflowRunsService } from '../calls/workflows/runs/workflow-runs.service.js';
import { WorkflowBpmnError, WorkflowFailedError } from '../calls/workflows/model/workflows.errors.js';
import type { EngineCommand } from '#engine/tokens';
import type { InstanceHead } from '../storage/process-instance.entity.js';
import { JobSteps, givenUpMessage, ownerOf } from './job-steps.js';
import { payerOf } from '../steps/step-resources.js';
import { decodeJob, runKeyOf, type RuntimeJob } from '../steps/runtime-job.js';
import { workflowLimits } from '../calls/workflows/workflow.limits.js';
import { jobLimits } from '../../jobs/job.limits.js';

type Work = Extract<RuntimeJob, { kind: 'WORKFLOW' }>;

/** Renewals per lease, so that a few may fail. */
const RENEWALS = 4;

/** Runs the workflow of an action. Its output lets the token continue. */
@Injectable()
export class WorkflowHandler implements JobHandler {
  readonly kind = 'WORKFLOW';
  /** Longer than that of short jobs, which keeps runs out of their workers. */
  readonly leaseMs = Math.max(workflowLimits.leaseMs, jobLimits.leaseMs + 1);
  private readonly checkMs = Math.min(workflowLimits.cancelCheckMs, this.leaseMs / RENEWALS);

  constructor(
    private readonly steps: JobSteps,
    private readonly queue: JobQueueService,
    private readonly workflows: WorkflowRunsService,
  ) {}

  async run(job: Job, context: JobContext): Promise<void> {
    const work = decodeJob<'WORKFLOW'>(job.payload);
    // A run is expensive, so check first whether the token has moved on.
    const head = await this.steps.instanceAt(job, work);
    if (head === null) {
      await this.steps.drop(job);
    } else if (!(await this.steps.parkIfOnHold(job, head.id))) {
      await this.steps.make(job, head.id, await this.outcome(job, work, head, context));
    }
  }

  async giveUp(job: Job, error: unknown): Promise<void> {
    const { tokenId, visit, actionSvcUuid } = decodeJob<'WORKFLOW'>(job.payload);
    const place = { source: 'ACTION', type: 'WORKFLOW', tokenId, visit, actionSvcUuid } as const;
    const head = await this.steps.instanceOf(job);
    if (head !== null) {
      await this.workflows.abandon({ processInstanceUuid: head.uuid, shard: head.shard }, tokenId);
    }
    await this.steps.stop(job, ownerOf(job), { ...place, message: givenUpMessage(job, error) });
  }

  private async outcome(
    job: Job,
    work: Work,
    head: InstanceHead,
    context: JobContext,
  ): Promise<EngineCommand> {
    const { tokenId, visit, actionSvcUuid, workflow, appId, input } = work;
    const action = { tokenId, visit, actionSvcUuid };
    // A heartbeat renews the lease, and aborts the signal when the job is gone. Without the database the run continues until the lease ends.
    const watch = setInterval(() => void context.heartbeat().catch(() => undefined), this.checkMs);
    try {
      const output = await this.workflows.run({
        buildId: head.buildId,
        payer: payerOf(head),
        processInstanceUuid: head.uuid,
        parentProcessInstanceUuid: head.parentUuid,
        shard: head.shard,
        appId,
        workflow,
        input,
        signal: context.signal,
        processTokenId: tokenId,
        runKey: runKeyOf(job),
        hold: (manager) => this.queue.hold(manager, job),
      });
      return { kind: 'ACTION_DONE', ...action, output };
    } catch (error) {
      if (error instanceof WorkflowBpmnError) {
        return { kind: 'ACTION_ERROR', ...action, errorCode: error.errorCode };
      }
      if (!(error instanceof WorkflowFailedError)) {
        throw error;
      }
      const { code: errorCode, message } = error;
      return { kind: 'ACTION_FAILED', ...action, errorCode, message: `${errorCode}: ${message}` };
    } finally {
      clearInterval(watch);
    }
  }
}
