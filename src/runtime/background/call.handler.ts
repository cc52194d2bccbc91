import { Injectable } from '@nestjs/common';
import { DomainError } from '../../platform/errors/domain.error.js';
import { isDatabaseFailure } from '../../store/database.errors.js';
import { isDuplicate } from '../../store/connection/driver-errors.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { QuotaExceededError } from '../quotas/model/quotas.errors.js';
import { LeaseLostError } from '../../jobs/queue/jobs.errors.js';
import { EngineIncident, EngineRefusal } from '#engine/tokens';
import type { Fault } from '../steps/incident-records.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import { chooseStart } from '../starts/start-choice.js';
import { ProcessStarter, type StartRequest } from '../steps/process-starter.js';
import { familyOf } from '../storage/families.repository.js';
import type { InstanceHead } from '../storage/process-instance.entity.js';
import { JobSteps, givenUpMessage, ownerOf, quotaMessage } from './job-steps.js';
import { decodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import { processLimits } from '../process.limits.js';

type Work = Extract<RuntimeJob, { kind: 'CALL' }>;

/**
 * Starts a called process. The transaction that stores the child completes the job, so each call starts one child, and ending the children
 * of the caller finds either the job or the child.
 */
@Injectable()
export class CallHandler implements JobHandler {
  readonly kind = 'CALL';
  private readonly maxDepth = processLimits.callDepth;

  constructor(
    private readonly steps: JobSteps,
    private readonly definitions: RunnableDefinitionsService,
    private readonly starter: ProcessStarter,
  ) {}

  async run(job: Job): Promise<void> {
    const work = decodeJob<'CALL'>(job.payload);
    const parent = await this.steps.instanceOf(job);
    if (parent === null) {
      await this.steps.drop(job);
    } else if (parent.state !== 'ONHOLD' || !(await this.steps.parkIfOnHold(job, parent.id))) {
      await this.call(job, work, parent);
    }
  }

  async giveUp(job: Job, error: unknown): Promise<void> {
    const work = decodeJob<'CALL'>(job.payload);
    const message = givenUpMessage(job, error);
    try {
      await this.refuse(job, work, 'ENGINE', message);
    } catch (failure) {
      if (failure instanceof LeaseLostError || isDatabaseFailure(failure)) {
        throw failure;
      }
      // The step may fail for the same reason as the call. An incident needs neither.
      await this.stop(job, work, 'ENGINE', message);
    }
  }

  private async call(job: Job, work: Work, parent: InstanceHead): Promise<void> {
    if (parent.depth >= this.maxDepth) {
      const message = `Processes call each other more than ${this.maxDepth} deep.`;
      await this.refuse(job, work, 'SUBPROCESS', message);
      return;
    }
    try {
      const request = await this.request(job, work, parent);
      await this.starter.start(request);
    } catch (error) {
      await this.handleFailure(job, work, error);
    }
  }

  private async handleFailure(job: Job, work: Work, error: unknown): Promise<void> {
    const name = `Process "${work.process}"`;
    if (isDuplicate(error)) {
      await this.steps.drop(job);
    } else if (error instanceof EngineIncident || error instanceof EngineRefusal) {
      await this.refuse(job, work, 'SUBPROCESS', `${name} could not start: ${error.message}`);
    } else if (error instanceof QuotaExceededError) {
      await this.refuse(job, work, 'SUBPROCESS', quotaMessage(error));
    } else if (error instanceof DomainError && isOfDefinition(error)) {
      await this.refuse(job, work, 'DEFINITION', `${name} cannot be called: ${error.message}`);
    } else {
      throw error;
    }
  }

  private async request(job: Job, work: Work, parent: InstanceHead): Promise<StartRequest> {
    const caller = await this.definitions.byId(parent.definitionId);
    const definition = await this.definitions.called(caller, work.appId, work.process);
    const { index: startNode } = chooseStart(definition.graph, work.startCondition ?? undefined);
    return {
      definition,
      startNode,
      data: work.data,
      platform: parent.platform,
      starter: parent.starter,
      startedBy: parent.startedBy,
      shard: null,
      rootAppId: parent.rootAppId,
      depth: parent.depth + 1,
      job,
      keepsStopped: false,
      parent: {
        parentAppId: parent.appId,
        parentId: parent.id,
        parentUuid: parent.uuid,
        rootId: familyOf(parent),
        parentTokenId: work.tokenId,
        parentVisit: work.visit,
        parentIndex: work.index,
        parentSeq: work.seq,
        parentWaits: work.waits,
      },
    };
  }

  /** Rejects a call that cannot be made. The activity that waits for it catches the error by its code, or stops. */
  private async refuse(job: Job, work: Work, type: Fault['type'], message: string): Promise<void> {
    if (!work.waits) {
      await this.stop(job, work, type, message);
      return;
    }
    const { tokenId, visit, index } = work;
    const command = { kind: 'CALL_FAILED', tokenId, visit, index, type, message } as const;
    await this.steps.make(job, ownerOf(job), command);
  }

  private async stop(job: Job, work: Work, type: Fault['type'], message: string): Promise<void> {
    const { node, actionSvcUuid, waits } = work;
    // Fire-and-forget calls never block a token, so the call is made even if its caller has ended.
    const { tokenId, visit } = waits ? work : { tokenId: null, visit: null };
    const place = { tokenId, visit, node, actionSvcUuid };
    await this.steps.stop(job, ownerOf(job), { ...place, source: 'SUBPROCESS', type, message });
  }
}

/** Whether the definition refers to something that does not exist. Other errors may be temporary. */
function isOfDefinition({ code }: DomainError): boolean {
  return [
    'PROCESS_DEFINITION_NOT_FOUND',
    'START_NODE_NOT_FOUND',
    'START_CONDITION_MISSING',
    'LIBRARY_REFUSED',
  ].includes(code);
}
