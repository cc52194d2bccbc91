import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { JsonObject } from '#engine/json';
import type { Principal } from '../../platform/user/principal.js';
import {
  EngineRefusal,
  type EngineCommand,
  type StepResult,
  type InstanceStatus,
  patchedMembers,
} from '#engine/tokens';
import { correctionText } from './data-correction.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { decodeJob, outlives } from '../steps/runtime-job.js';
import { ProcessIncidentError, ProcessStateError } from '../model/process-runtime.errors.js';
import { FailedStepError, toDomainError } from '../steps/step-failures.js';
import type { LockedInstance } from '../steps/step.types.js';
import { IncidentsService } from '../steps/incidents.service.js';
import {
  StoppedWork,
  type RetryTarget,
  type Stop,
  isRequestable,
  nothingToRetryError,
  notRetryableError,
} from './stopped-work.js';
import type { InstanceRetryDto } from './instance-operation.dto.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { InstanceAccessService } from '../access/instance-access.service.js';
import { closeIncidents, type IncidentClosing } from '../steps/incident-records.js';
import { CorrectionsRepository } from '../storage/corrections.repository.js';
import { InstanceAuditService } from './instance-audit.service.js';
import { Incidents } from '../storage/incidents.repository.js';

interface Attempt {
  principal: Principal;
  target: RetryTarget;
  version: AppVersionKey;
  jobId: number;
  /** Whether the original work runs again unchanged, even if the engine could request it again. */
  isUnchanged: boolean;
  /** Corrects process data in the same transaction. */
  patch: JsonObject | undefined;
}

interface Retried {
  held: LockedInstance;
  /** Of the step's own transaction, which the audit log needs. */
  manager: EntityManager;
  stop: Stop;
  attempt: Attempt;
  /** The changed values, see `correctionText`. */
  corrected: string | undefined;
}

interface Outcome extends Pick<IncidentClosing, 'at' | 'events'> {
  state: InstanceStatus;
  /** Result of the engine, if a step was made. */
  step?: StepResult | undefined;
}

/** An incident that could not be retried, and why. */
interface Failed {
  uuid: string;
  error: ProcessIncidentError | ProcessStateError;
}

/** Retries incidents (docs/process-semantics.md, section 11). */
@Injectable()
export class InstanceRetriesService {
  constructor(
    private readonly steps: InstanceStepsService,
    private readonly incidents: IncidentsService,
    private readonly access: InstanceAccessService,
    private readonly audit: InstanceAuditService,
    private readonly corrections: CorrectionsRepository,
    private readonly work: StoppedWork,
  ) {}

  /**
   * Retries the incidents of a token on its current visit, or of the instance as a whole, one by one, and closes them. The response
   * names those that could not be retried.
   * @param data JSON merge patch of process data, stored with the first incident that is retried, or not at all
   * @throws ProcessInstanceNotFoundError, ProcessTokenNotFoundError
   * @throws PermissionDeniedError, ValidationFailedError when this correction of the data is not allowed
   * @throws BuildWithdrawnError when the instance has not started and its build was withdrawn
   * @throws ProcessStateError when there is nothing to retry, only a caller can repeat it, or the state of the instance does not allow it
   * @throws ProcessIncidentError when the work stops again at once and no other incident could be retried
   */
  async retry(principal: Principal, target: RetryTarget, data?: JsonObject): Promise<InstanceRetryDto> {
    await this.audit.requireAdministrator(principal, { ...target, action: AuditAction.ProcessRetry });
    if (data !== undefined) {
      await this.access.requireCorrectable(principal, target.uuid);
    }
    const version = await this.audit.requireVersion(target.uuid);
    const open = await this.work.openOf(target);
    const stops = open.filter((incident): incident is Stop => incident.job !== null);
    if (stops.length === 0) {
      throw open.length === 0 ? nothingToRetryError(target) : notRetryableError(target, open);
    }
    const retried: InstanceRetryDto[] = [];
    const failed: Failed[] = [];
    let patch = data;
    for (const stop of stops) {
      const jobId = await this.work.reserve();
      try {
        const attempt = { principal, target, version, jobId, isUnchanged: false, patch };
        const done = await this.retryOne(stop, attempt);
        retried.push(done);
        patch = done.retriedIncidents.length > 0 ? undefined : patch;
      } catch (error) {
        failed.push(failedOf(stop, error));
      }
    }
    return this.answer(target, retried, failed);
  }

  private answer(
    target: RetryTarget,
    retried: readonly InstanceRetryDto[],
    failed: readonly Failed[],
  ): InstanceRetryDto {
    const retriedIncidents = retried.flatMap((view) => view.retriedIncidents);
    if (retriedIncidents.length === 0) {
      // Without a failure, another operator has retried it.
      throw failed[0]?.error ?? nothingToRetryError(target);
    }
    const notRetried = failed.map(({ uuid, error: { message } }) => ({ uuid, message }));
    return {
      uuid: target.uuid,
      state: retried.at(-1)?.state ?? 'STARTED',
      retriedIncidents,
      ...(notRetried.length === 0 ? {} : { notRetried }),
    };
  }

  private async retryOne(stop: Stop, attempt: Attempt): Promise<InstanceRetryDto> {
    try {
      return await this.attempt(stop, attempt);
    } catch (error) {
      const isGone = error instanceof EngineRefusal && error.code === 'NOTHING_TO_RETRY';
      return isGone && stop.tokenId === null
        ? // The current data has no such element any more, but the original call has its own copy.
          this.attempt(stop, { ...attempt, isUnchanged: true })
        : this.throwForOperator(error, stop, attempt.principal.user.userName);
    }
  }

  private async attempt(stop: Stop, attempt: Attempt): Promise<InstanceRetryDto> {
    const { patch } = attempt;
    return this.steps.transact({ uuid: attempt.target.uuid }, async (held) => {
      const manager = held.transaction.requireOwnTransaction();
      const corrected = patch && correctionText(held.requireCachedDefinition(), held.row.content.data, patch);
      const retried = { held, manager, stop, attempt, corrected };
      if ((await Incidents.stillOpen(manager, held.row.id, [stop])).length === 0) {
        return { uuid: held.row.uuid, state: held.row.state, retriedIncidents: [] };
      }
      return (await this.isRequestedAgain(retried)) ? this.requestAgain(retried) : this.requeue(retried);
    });
  }

  /**
   * Whether the engine requests the work again. Otherwise the background work itself runs again.
   * @throws EngineRefusal when the state of the instance allows neither
   */
  private async isRequestedAgain({ held, manager, stop, attempt }: Retried): Promise<boolean> {
    const { row } = held;
    const { job } = stop;
    const isReady = row.state === (job.kind === 'START' ? 'CREATED' : 'STARTED');
    if (!isReady && !outlives(job, row.state)) {
      throw new EngineRefusal('INSTANCE_NOT_STARTED');
    }
    return (
      isReady &&
      !attempt.isUnchanged &&
      isRequestable(stop) &&
      !(await this.work.mustResume(manager, row.shard, job))
    );
  }

  private async requestAgain(retried: Retried): Promise<InstanceRetryDto> {
    const { held, stop, attempt } = retried;
    const command = await this.toCommand(retried);
    const cause = { actor: attempt.principal.user.userName, retried: stop };
    const { result, now: at } = await this.steps.make(held, command, cause);
    const { state } = result.instance;
    await this.close(retried, { state, at, step: result });
    return { uuid: held.row.uuid, state, retriedIncidents: [stop.uuid] };
  }

  /** Queues the background work again. With corrected data this takes a step too. */
  private async requeue(retried: Retried): Promise<InstanceRetryDto> {
    const { held, manager, stop, attempt } = retried;
    const { row } = held;
    const { principal, jobId, patch } = attempt;
    const cause = { actor: principal.user.userName, retried: stop };
    const made = patch && (await this.steps.make(held, { kind: 'CHANGE_DATA', patch }, cause));
    const at = await this.work.requeue(manager, row, stop.job, jobId);
    const { tokenId, node, job } = stop;
    const event = { kind: 'RETRY', tokenId, node, data: { job: job.kind } } as const;
    await this.close(retried, { state: row.state, at, events: [event], step: made?.result });
    if (made === undefined) {
      this.steps.noteChange(held);
    }
    return { uuid: row.uuid, state: row.state, retriedIncidents: [stop.uuid] };
  }

  private async toCommand({ held, manager, stop, attempt: { patch } }: Retried): Promise<EngineCommand> {
    const { job, actionSvcUuid } = stop;
    const corrected = patch === undefined ? {} : { patch };
    if (job.kind === 'START') {
      const { data } = held.row.content;
      return { kind: 'START', startNode: decodeJob<'START'>(job.payload).node, data, ...corrected };
    }
    const { tokenId, visit } = stop.tokenId === null ? decodeJob<'CALL'>(job.payload) : stop;
    const call = await this.work.callOf(manager, job);
    const at = { tokenId: tokenId ?? 0, visit: visit ?? 0 };
    return { kind: 'RETRY', ...at, actionSvcUuid, ...(call === null ? {} : { call }), ...corrected };
  }

  /** Closes the incident unless its step has, and records the correction and the audit event. */
  private async close(retried: Retried, { state, at, events, step }: Outcome): Promise<void> {
    const { held, manager, stop, attempt, corrected } = retried;
    const { row } = held;
    const { principal, target, version, patch } = attempt;
    const change = step?.events.find(({ kind }) => kind === 'DATA_CHANGED');
    if (corrected !== undefined && change !== undefined) {
      await this.corrections.insert(manager, row, change.seq, corrected);
    }
    const closing = { state: 'RETRIED', actor: principal.user.userName, at, events } as const;
    await closeIncidents(manager, row.id, [stop], closing);
    const done = {
      ...target,
      version,
      action: AuditAction.ProcessRetry,
      stateBefore: row.state,
      state,
      retriedIncidents: [stop.uuid],
      ...(patch === undefined ? {} : { changedData: patchedMembers(patch) }),
    };
    await this.audit.record(manager, principal, done, row.shard);
  }

  /** @throws the error for the operator; work that stopped again has updated its incident */
  private async throwForOperator(error: unknown, retried: Stop, actor: string): Promise<never> {
    if (error instanceof EngineRefusal) {
      throw toDomainError(error);
    }
    if (error instanceof FailedStepError) {
      throw new ProcessIncidentError(await this.incidents.recordStop(error, { actor, retried }));
    }
    throw error;
  }
}

/** @throws errors that do not concern this incident alone, such as an outage of the database */
function failedOf({ uuid }: Stop, error: unknown): Failed {
  if (error instanceof ProcessIncidentError || error instanceof ProcessStateError) {
    return { uuid, error };
  }
  throw error;
}
