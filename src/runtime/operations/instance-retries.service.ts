import { Injectable } from '@nestjs/common';
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
import type { Decision, LockedInstance } from '../steps/step.types.js';
import { IncidentsService } from '../steps/incidents.service.js';
import {
  StoppedWork,
  type RetryTarget,
  type Stop,
  isAskedAnew,
  nothingStopped,
  notInBackground,
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
  /** Whether work that the engine could ask for anew runs as it was asked for. */
  asAsked: boolean;
  /** Corrects process data in the same transaction. */
  patch: JsonObject | undefined;
}

interface Retried {
  held: LockedInstance;
  stop: Stop;
  attempt: Attempt;
  /** The values that `patch` changes, see `correctionText`. */
  corrected: string | undefined;
}

interface Outcome extends Pick<IncidentClosing, 'at' | 'events'> {
  state: InstanceStatus;
  /** What the engine made, where it was asked. */
  step?: StepResult | undefined;
}

/** An incident that could not be retried, and what is told of it. */
interface Failed {
  uuid: string;
  error: ProcessIncidentError | ProcessStateError;
}

/** Runs again what incidents stopped (docs/process-semantics.md, section 11). */
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
   * Runs again what stopped a token on its present visit, or the instance as a whole, and closes the incidents. Of several each is
   * retried by itself, and the answer tells which could not be.
   * @param data JSON merge patch of process data, stored with the first incident that is retried, or not at all
   * @throws ProcessInstanceNotFoundError, ProcessTokenNotFoundError
   * @throws PermissionDeniedError, ValidationFailedError when the data must not be corrected, or not in this way
   * @throws BuildWithdrawnError when the instance has yet to start, and its build was withdrawn
   * @throws ProcessStateError when nothing did, when only a caller can do it again, or the instance's state does not allow it
   * @throws ProcessIncidentError when it stops again at once; of several when none could be retried, for the first of them
   */
  async retry(principal: Principal, target: RetryTarget, data?: JsonObject): Promise<InstanceRetryDto> {
    await this.audit.demandTheirs(principal, { ...target, action: AuditAction.ProcessRetry });
    if (data !== undefined) {
      await this.access.demandCorrectable(principal, target.uuid);
    }
    const version = await this.audit.demandVersion(target.uuid);
    const open = await this.work.openOf(target);
    const stops = open.filter((incident): incident is Stop => incident.job !== null);
    if (stops.length === 0) {
      throw open.length === 0 ? nothingStopped(target) : notInBackground(target, open);
    }
    const retried: InstanceRetryDto[] = [];
    const failed: Failed[] = [];
    let patch = data;
    for (const stop of stops) {
      const jobId = await this.work.reserve();
      try {
        const attempt = { principal, target, version, jobId, asAsked: false, patch };
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
      // Without a failure another operator was first.
      throw failed[0]?.error ?? nothingStopped(target);
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
        ? // The data of now has no such element any more; the call has its own.
          this.attempt(stop, { ...attempt, asAsked: true })
        : this.failed(error, stop, attempt.principal.user.userName);
    }
  }

  private async attempt(stop: Stop, attempt: Attempt): Promise<InstanceRetryDto> {
    const { uuid } = attempt.target;
    return this.steps.run<InstanceRetryDto>(
      { uuid },
      {
        actor: attempt.principal.user.userName,
        retried: stop,
        decide: async (held) => {
          held.transaction.alone();
          const { patch } = attempt;
          const corrected = patch && correctionText(held.definition(), held.row.content.data, patch);
          const retried = { held, stop, attempt, corrected };
          return (
            (await this.again(retried)) ?? {
              command: await this.toCommand(held, stop, patch),
              after: async ({ result, now: at }) => {
                const { state } = result.instance;
                await this.close(retried, { state, at, step: result });
                return { uuid, state, retriedIncidents: [stop.uuid] };
              },
            }
          );
        },
      },
    );
  }

  /** Where the background work itself is there again; with corrected data this takes a step too. */
  private async again(retried: Retried): Promise<Decision<InstanceRetryDto> | undefined> {
    const { stop, attempt } = retried;
    const { transaction, row } = retried.held;
    const answer = { uuid: row.uuid, state: row.state, retriedIncidents: [] as string[] };
    if ((await Incidents.stillOpen(transaction, row.id, [stop])).length === 0) {
      return { answer };
    }
    const { job, tokenId, node } = stop;
    const { jobId, asAsked, patch } = attempt;
    const isReady = row.state === (job.kind === 'START' ? 'CREATED' : 'STARTED');
    if (
      isReady &&
      !asAsked &&
      isAskedAnew(stop) &&
      !(await this.work.mustGoOn(transaction, row.shard, job))
    ) {
      return undefined;
    }
    if (!isReady && !outlives(job, row.state)) {
      throw new EngineRefusal('INSTANCE_NOT_STARTED', `The process instance is ${row.state}.`);
    }
    const event = { kind: 'RETRY', tokenId, node, data: { job: job.kind } } as const;
    const putBack = async (step?: StepResult): Promise<InstanceRetryDto> => {
      const at = await this.work.putBack(transaction, row, job, jobId);
      await this.close(retried, { state: row.state, at, events: [event], step });
      return { ...answer, retriedIncidents: [stop.uuid] };
    };
    return patch === undefined
      ? { answer: await putBack(), isNews: true }
      : { command: { kind: 'CHANGE_DATA', patch }, after: ({ result }) => putBack(result) };
  }

  private async toCommand(held: LockedInstance, stop: Stop, patch?: JsonObject): Promise<EngineCommand> {
    const { job, actionSvcUuid } = stop;
    const corrected = patch === undefined ? {} : { patch };
    if (job.kind === 'START') {
      const { data } = (await held.load()).state;
      return { kind: 'START', startNode: decodeJob<'START'>(job.payload).node, data, ...corrected };
    }
    const { tokenId, visit } = stop.tokenId === null ? decodeJob<'CALL'>(job.payload) : stop;
    const call = await this.work.callOf(held.transaction, job);
    const at = { tokenId: tokenId ?? 0, visit: visit ?? 0 };
    return { kind: 'RETRY', ...at, actionSvcUuid, ...(call === null ? {} : { call }), ...corrected };
  }

  /** Closes the incident that is retried, where its step has not, keeps what was corrected, and tells the audit log. */
  private async close(retried: Retried, { state, at, events, step }: Outcome): Promise<void> {
    const { held, stop, attempt, corrected } = retried;
    const { transaction, row } = held;
    const { principal, target, version, patch } = attempt;
    const change = step?.events.find(({ kind }) => kind === 'DATA_CHANGED');
    if (corrected !== undefined && change !== undefined) {
      await this.corrections.insert(transaction, row, change.seq, corrected);
    }
    const closing = { state: 'RETRIED', actor: principal.user.userName, at, events } as const;
    await closeIncidents(transaction, row.id, [stop], closing);
    const done = {
      ...target,
      version,
      action: AuditAction.ProcessRetry,
      stateBefore: row.state,
      state,
      retriedIncidents: [stop.uuid],
      ...(patch === undefined ? {} : { changedData: patchedMembers(patch) }),
    };
    await this.audit.record(transaction.alone(), principal, done, row.shard);
  }

  /** @throws what the operator is told; the incident tells why, where the same work has stopped again */
  private async failed(error: unknown, retried: Stop, actor: string): Promise<never> {
    if (error instanceof EngineRefusal) {
      throw toDomainError(error);
    }
    if (error instanceof FailedStepError) {
      throw new ProcessIncidentError(await this.incidents.recordStop(error, { actor, retried }));
    }
    throw error;
  }
}

/** @throws the error itself when it says nothing of this incident alone, such as an outage of the database */
function failedOf({ uuid }: Stop, error: unknown): Failed {
  if (error instanceof ProcessIncidentError || error instanceof ProcessStateError) {
    return { uuid, error };
  }
  throw error;
}
