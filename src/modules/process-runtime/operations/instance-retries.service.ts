import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { JsonObject } from '../../../common/json.js';
import type { Principal } from '../../../common/user/principal.js';
import { BuildStandingsService } from '../../builds/active/build-standings.service.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import type { EngineCommand, InstanceState, StepResult } from '../engine/state/engine.types.js';
import { correctionText } from './data-correction.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { decodeJob, outlives } from '../steps/runtime-job.js';
import { ProcessIncidentError, ProcessStateError } from '../model/process-runtime.errors.js';
import { FailedStepError } from '../steps/failed-step.error.js';
import { JOIN_NEVER_COMPLETED } from '../steps/join-incidents.js';
import type { Decision, LockedInstance } from '../steps/step.types.js';
import { StepResources } from '../steps/step-resources.js';
import { StepFailures } from '../steps/step-failures.js';
import { unparked } from '../steps/step-work.js';
import type { IncidentRow } from '../storage/incidents.repository.js';
import type { ParkedJob } from '../storage/instance-content.types.js';
import { RetryRecords, type Attempt, type Retried, type Stop } from './retry-records.js';
import { StoppedWork, type RetryTarget } from './stopped-work.js';
import type { InstanceRetryDto } from './instance-operation.dto.js';

/** An incident that could not be retried, and what is told of it. */
interface Failed {
  uuid: string;
  error: ProcessIncidentError | ProcessStateError;
}

/**
 * Work that the engine asks for anew, with the data of now; any other runs again as it was asked for, and so does a workflow that
 * has made a call that may not be made twice.
 */
const ASKED_ANEW: readonly string[] = ['WORKFLOW', 'CALL', 'CONTINUE'];

/** Runs again what incidents stopped (docs/process-semantics.md, section 11). */
@Injectable()
export class InstanceRetriesService {
  constructor(
    private readonly steps: InstanceStepsService,
    private readonly failures: StepFailures,
    private readonly records: RetryRecords,
    private readonly work: StoppedWork,
    private readonly resources: StepResources,
    private readonly standings: BuildStandingsService,
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
    const version = await this.records.demandMay(principal, target, data !== undefined);
    const open = await this.work.openOf(target);
    const stops = open.filter((incident): incident is Stop => incident.job !== null);
    if (stops.length === 0) {
      throw open.length === 0 ? nothingStopped(target) : notInBackground(target, open);
    }
    if (stops.some(({ job }) => job.kind === 'START')) {
      await this.standings.demandNotWithdrawn(await this.work.buildOf(target));
    }
    const retried: InstanceRetryDto[] = [];
    const failed: Failed[] = [];
    let patch = data;
    for (const stop of stops) {
      const jobId = await this.resources.nextId('job');
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
    this.work.wake();
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
        decide: async (held, manager) => {
          const { row } = held;
          const { patch } = attempt;
          const corrected = patch && correctionText(held.definition(), row.content.data, patch);
          const retried = { row, stop, attempt, corrected };
          return (
            (await this.again(manager, retried)) ?? {
              command: await this.toCommand(manager, held, stop, patch),
              after: async ({ result }) => {
                const { state } = result.instance;
                await this.records.close(manager, retried, { state, step: result });
                return { uuid, state, retriedIncidents: [stop.uuid] };
              },
            }
          );
        },
      },
    );
  }

  /** Where the background work itself is there again; with corrected data this takes a step too. */
  private async again(
    manager: EntityManager,
    retried: Retried,
  ): Promise<Decision<InstanceRetryDto> | undefined> {
    const { row, stop, attempt } = retried;
    const answer = { uuid: row.uuid, state: row.state, retriedIncidents: [] as string[] };
    if (!(await this.work.isOpen(manager, row.id, stop))) {
      return { answer };
    }
    const { job, tokenId, node } = stop;
    const { jobId, asAsked, patch } = attempt;
    const isReady = row.state === (job.kind === 'START' ? 'CREATED' : 'STARTED');
    if (isReady && !asAsked && isAskedAnew(stop) && !(await this.work.mustGoOn(manager, row.shard, job))) {
      return undefined;
    }
    if (!isReady && !outlives(job, row.state)) {
      throw new EngineRefusal('INSTANCE_NOT_STARTED', `The process instance is ${row.state}.`);
    }
    const again = { ...unparked(row, job, this.resources.now()), id: jobId, shard: row.shard };
    const event = { kind: 'RETRY', tokenId, node, data: { job: job.kind } } as const;
    const putBack = async (step?: StepResult): Promise<InstanceRetryDto> => {
      await this.work.putBack(manager, job, again);
      await this.records.close(manager, retried, { state: row.state, events: [event], step });
      return { ...answer, retriedIncidents: [stop.uuid] };
    };
    return patch === undefined
      ? { answer: await putBack(), isNews: true }
      : { command: { kind: 'CHANGE_DATA', patch }, after: ({ result }) => putBack(result) };
  }

  private async toCommand(
    manager: EntityManager,
    held: LockedInstance,
    stop: Stop,
    patch: JsonObject | undefined,
  ): Promise<EngineCommand> {
    const { job, actionSvcUuid } = stop;
    const corrected = patch === undefined ? {} : { patch };
    if (job.kind === 'START') {
      return { ...startOf(job, (await held.load()).state), ...corrected };
    }
    const { tokenId, visit } = stop.tokenId === null ? decodeJob<'CALL'>(job.payload) : stop;
    const call = await this.work.callOf(manager, job);
    const at = { tokenId: tokenId ?? 0, visit: visit ?? 0 };
    return { kind: 'RETRY', ...at, actionSvcUuid, ...(call === null ? {} : { call }), ...corrected };
  }

  /** @throws what the operator is told; the incident tells why, where the same work has stopped again */
  private async failed(error: unknown, retried: Stop, actor: string): Promise<never> {
    if (error instanceof EngineRefusal) {
      throw this.failures.refused(error);
    }
    if (error instanceof FailedStepError) {
      throw new ProcessIncidentError(await this.failures.stopped(error, { actor, retried }));
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

/** The start of an instance that stopped at once, with the data that it was given. */
function startOf({ payload }: ParkedJob, { data }: InstanceState): Extract<EngineCommand, { kind: 'START' }> {
  return { kind: 'START', startNode: decodeJob<'START'>(payload).node, data };
}

/**
 * A called process that ended badly is called again; one that ended well has only to be told of again. What stopped no token is
 * asked for anew only where the engine knows how. A workflow has its action; without one it has ended well, and the process stopped behind
 * it: its answer is taken once more.
 */
function isAskedAnew({ job: { kind, payload }, tokenId, actionSvcUuid }: Stop): boolean {
  if (tokenId === null) {
    return kind === 'CALL' || kind === 'START';
  }
  return kind === 'NOTIFY_PARENT'
    ? decodeJob<'NOTIFY_PARENT'>(payload).outcome.state !== 'FINISHED'
    : ASKED_ANEW.includes(kind) && (kind !== 'WORKFLOW' || actionSvcUuid !== null);
}

function nothingStopped({ tokenUuid }: RetryTarget): ProcessStateError {
  const what = tokenUuid === null ? 'the process instance as a whole' : 'this token';
  return new ProcessStateError('NOTHING_TO_RETRY', `Nothing of ${what} has stopped.`);
}

/** What helps in place of a retry. */
function notInBackground({ tokenUuid }: RetryTarget, open: readonly IncidentRow[]): ProcessStateError {
  const whole = open.some(({ type }) => type === JOIN_NEVER_COMPLETED)
    ? 'no token can come to the join any more. Terminate the process instance, or go back by a UI action where there is one'
    : 'start the process again';
  const instead = tokenUuid === null ? whole : 'execute the UI action again';
  return new ProcessStateError('NOTHING_TO_RETRY', `There is nothing to retry: ${instead}.`);
}
