import { Injectable } from '@nestjs/common';
import { requireMatch, readIfMatch } from '../../platform/http/conditional-requests.js';
import { runInSlice } from '#engine/support';
import type { Principal } from '../../platform/user/principal.js';
import type { JsonObject } from '#engine/json';
import { requestContext } from '../../platform/observability/logging/request-context.js';
import { EngineRefusal, type TokenState, type UiActionPlace } from '#engine/tokens';
import { repeatKey } from '../../idempotency/idempotency-key.dto.js';
import { RepeatsService } from '../../idempotency/repeats.service.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { ProcessStateError } from '../model/process-runtime.errors.js';
import { type UiActionResponseDto, type UiActionParams, readBack } from './ui-action.dto.js';
import { FailedStepError, isOfMissingData, stopError, toDomainError } from '../steps/step-failures.js';
import {
  type RunnableDefinition,
  RunnableDefinitionsService,
} from '../definitions/runnable-definitions.service.js';
import type { LoadedInstance, LockedInstance, MadeStep } from '../steps/step.types.js';
import { Database } from '../../store/database.js';
import { Instances } from '../storage/instances.repository.js';
import { Tokens } from '../storage/tokens.repository.js';
import { IncidentsService } from '../steps/incidents.service.js';
import { UiActionAccess } from '../access/instance-access.service.js';
import { refuseInput } from './ui-action-input.js';
import { newCommit, UiActionRepeats, visitTag, type TimedCall } from './ui-action-repeats.js';

/** Request headers of an execution; undefined if not sent. */
export interface UiActionHeaders {
  idempotencyKey?: string | undefined;
  ifMatch?: string | undefined;
  back?: string | undefined;
}

@Injectable()
export class UiActionExecutionService {
  private readonly repeats = new UiActionRepeats();

  constructor(
    private readonly steps: InstanceStepsService,
    private readonly incidents: IncidentsService,
    private readonly database: Database,
    private readonly definitions: RunnableDefinitionsService,
    private readonly answers: RepeatsService,
    private readonly access: UiActionAccess,
  ) {}

  /**
   * Executes a UI action on a token. Repeated calls with the same Idempotency-Key execute it once and get the same response.
   * Checks run in the order of these errors, as far as possible.
   * @throws ProcessInstanceNotFoundError, UiActionNotFoundError, LanePermissionError, see `UiActionAccess.requireUiAction`
   * @throws ProcessTokenNotFoundError
   * @throws ValidationFailedError, InvalidDataError, ProcessDataTooLargeError
   * @throws ChangedMeanwhileError when the token is on another visit than the caller names
   * @throws ProcessStateError when it cannot be executed now
   * @throws IdempotencyKeyReusedError when the key was used with another body
   * @throws QuotaExceededError
   * @throws ProcessIncidentError, ProcessDataMissingError when the process stops after it; the token does not move
   */
  async execute(
    principal: Principal,
    key: UiActionParams,
    body: JsonObject,
    { idempotencyKey, ifMatch, back }: UiActionHeaders = {},
  ): Promise<UiActionResponseDto> {
    const { processUuid, tokenUuid, uiActionSvcUuid } = key;
    const path = ['ui-action', processUuid, tokenUuid, uiActionSvcUuid];
    const call: TimedCall = {
      principal,
      key,
      body,
      repeat: repeatKey(principal, path, idempotencyKey, body),
      ifMatch: readIfMatch(ifMatch),
      goesBack: readBack(back),
      receivedAt: requestContext()?.receivedAt,
      commit: newCommit(),
    };
    try {
      await this.steps.refreshQuotas();
      const answer = await this.steps.transact({ uuid: processUuid }, (held) => this.executeIn(held, call));
      this.repeats.committed(call);
      return answer;
    } catch (error) {
      this.repeats.rolledBack(call);
      throw await this.toResponseError(error, principal);
    }
  }

  /**
   * Checks the path of a request whose body cannot be read: errors of the path take precedence.
   * @throws ProcessInstanceNotFoundError, UiActionNotFoundError, LanePermissionError, ProcessTokenNotFoundError
   */
  async checkPath(
    principal: Principal,
    { processUuid, tokenUuid, uiActionSvcUuid }: UiActionParams,
  ): Promise<void> {
    const head = await this.database.read((manager) => Instances.requireHead(manager, processUuid));
    const definition = await this.definitions.byId(head.definitionId);
    this.access.requireUiAction(principal, head, definition, uiActionSvcUuid);
    await this.database.read((manager) => Tokens.require(manager, head.id, tokenUuid));
  }

  /**
   * Executes the action in the transaction that has locked the instance: checks access, then looks for the stored answer of a repeated
   * call, then reads the tokens and makes the step.
   */
  private async executeIn(held: LockedInstance, call: TimedCall): Promise<UiActionResponseDto> {
    const { principal, key, body, repeat } = call;
    const { transaction, row } = held;
    const definition = held.requireCachedDefinition();
    const place = this.access.requireUiAction(principal, row, definition, key.uiActionSvcUuid);
    const stored = repeat === undefined ? null : await this.answers.find(transaction, repeat, row.shard);
    if (stored !== null && repeat !== undefined) {
      // An answer is stored for this path, so its token was there; another body may still be rejected.
      runInSlice(() => refuseInput(definition, place, body));
      return this.answers.answer(stored, repeat) as UiActionResponseDto;
    }
    const loaded = await this.steps.load(held);
    const token = [...loaded.state.tokens.values()].find(({ uuid }) => uuid === key.tokenUuid);
    const { id: tokenId } = token ?? (await Tokens.require(transaction, row.id, key.tokenUuid));
    runInSlice(() => refuseInput(definition, place, body));
    const executed = this.repeats.repeated(loaded, tokenId, place, call);
    if (executed !== undefined) {
      const { node, backTo } = executed;
      const answer = toAnswer(backTo ?? key.tokenUuid, definition, { node, back: backTo !== undefined });
      // With the time of the first answer.
      return this.storeAnswer(held, call, answer, row.modifiedAt);
    }
    if (token === undefined) {
      throw new ProcessStateError('TOKEN_NOT_ACTIVE', 'The token is not active.');
    }
    requireMatch(call.ifMatch, visitTag(token));
    return this.step(held, loaded, { token, place, call });
  }

  private async step(
    held: LockedInstance,
    loaded: LoadedInstance,
    { token, place, call }: { token: TokenState; place: UiActionPlace; call: TimedCall },
  ): Promise<UiActionResponseDto> {
    const { principal, key, body, goesBack } = call;
    this.steps.requireWorkQuota(held);
    const { uiActionSvcUuid } = key;
    const made = this.steps.run(loaded, {
      kind: 'UI_ACTION',
      tokenId: token.id,
      uiActionSvcUuid,
      body,
      goesBack,
    });
    const recorded = {
      ...made,
      result: this.repeats.withExecutedCall(made.result, loaded, token, place, call),
    };
    await this.steps.write(recorded, { actor: principal.user.userName });
    return this.storeAnswer(held, call, answerOf(recorded), recorded.now);
  }

  /**
   * Stores the answer for repeated calls, and returns it. Safe after the step, because the key names the instance: a concurrent repetition
   * waits for the lock of the instance and then finds the answer.
   */
  private async storeAnswer(
    { transaction, row: { shard } }: LockedInstance,
    { repeat }: TimedCall,
    answer: UiActionResponseDto,
    now: Date,
  ): Promise<UiActionResponseDto> {
    if (repeat !== undefined) {
      await this.answers.keep(transaction, repeat, { shard, answer, now });
    }
    return answer;
  }

  private async toResponseError(error: unknown, principal: Principal): Promise<unknown> {
    if (error instanceof EngineRefusal) {
      return toDomainError(error);
    }
    if (error instanceof FailedStepError) {
      const report = await this.incidents.recordStop(error, { actor: principal.user.userName });
      return stopError(report, isOfMissingData(error.incident));
    }
    return error;
  }
}

function answerOf({ before: { definition, state }, result }: MadeStep): UiActionResponseDto {
  const { action, changedTokens } = result;
  if (action === null) {
    throw new TypeError('The step of a UI action must return its token.');
  }
  const token = changedTokens.find(({ id }) => id === action.tokenId) ?? state.tokens.get(action.tokenId);
  return toAnswer(token?.uuid ?? '', definition, action);
}

function toAnswer(
  tokenUuid: string,
  definition: RunnableDefinition,
  { node, back }: { node: number; back: boolean },
): UiActionResponseDto {
  return {
    tokenUuid,
    currentNodeId: definition.nodeAt(node)?.id ?? 0,
    templatesSequence: null,
    backAction: back,
    resetToken: back,
  };
}
