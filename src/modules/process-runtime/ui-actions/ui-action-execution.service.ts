import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { demandMatch, readIfMatch } from '../../../common/http/conditional-requests.js';
import { inThisTurn } from '../../../common/turns.js';
import type { Principal } from '../../../common/user/principal.js';
import type { JsonObject } from '../../../common/json.js';
import { requestContext } from '../../../common/logging/request-context.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import type { TokenState } from '../engine/state/engine.types.js';
import { repeatKey } from '../../repeats/idempotency-key.dto.js';
import { RepeatsService } from '../../repeats/repeats.service.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { ProcessStateError, ProcessTokenNotFoundError } from '../model/process-runtime.errors.js';
import type { UiActionAnswer, UiActionKey } from '../model/process-runtime.types.js';
import { FailedStepError } from '../steps/failed-step.error.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import { StepFailures } from '../steps/step-failures.js';
import type { Decision, LoadedInstance, LockedInstance, StepOutcome } from '../steps/step.types.js';
import type { InstanceRow } from '../storage/instance.row.js';
import { TokensRepository } from '../storage/tokens.repository.js';
import { isOfMissingData, stopError } from '../steps/stop-report.js';
import { UiActionAccess } from '../access/ui-action-access.js';
import { refuseInput } from './ui-action-input.js';
import { readBack } from './back-header.dto.js';
import { newCommit, UiActionRepeats, visitTag, type TimedCall } from './ui-action-repeats.js';

/** What a caller sends to execute a UI action. */
interface UiActionCall extends TimedCall {
  key: UiActionKey;
}

/** Request headers that say which execution is meant; undefined where they were not sent. */
export interface UiActionHeaders {
  idempotencyKey?: string | undefined;
  ifMatch?: string | undefined;
  back?: string | undefined;
}

/** Executes UI actions (docs/contract.md, section 4.2). */
@Injectable()
export class UiActionExecutionService {
  constructor(
    private readonly steps: InstanceStepsService,
    private readonly failures: StepFailures,
    private readonly tokens: TokensRepository,
    private readonly answers: RepeatsService,
    private readonly access: UiActionAccess,
    private readonly repeats: UiActionRepeats,
  ) {}

  /**
   * Executes a UI action on a token. The same call with the same Idempotency-Key is executed once and gets the same answer.
   * What is wrong is told in this order, as far as it can be known without what comes behind it.
   * @throws ProcessInstanceNotFoundError, UiActionNotFoundError, LanePermissionError, see `UiActionAccess.demand`
   * @throws ProcessTokenNotFoundError
   * @throws ValidationFailedError, InvalidDataError, ProcessDataTooLargeError
   * @throws ChangedMeanwhileError when the token is on another visit than the caller names
   * @throws ProcessStateError when it cannot be executed now
   * @throws IdempotencyKeyReusedError when the key was used with another body
   * @throws QuotaExceededError
   * @throws ProcessIncidentError, ProcessDataMissingError when the process stops behind it; the token stays where it is
   */
  async execute(
    principal: Principal,
    key: UiActionKey,
    body: JsonObject,
    { idempotencyKey, ifMatch, back }: UiActionHeaders = {},
  ): Promise<UiActionAnswer> {
    const { processUuid, tokenUuid, uiActionSvcUuid } = key;
    const path = ['ui-action', processUuid, tokenUuid, uiActionSvcUuid];
    const call: UiActionCall = {
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
      const answer = await this.steps.run<UiActionAnswer>(
        { uuid: processUuid },
        {
          actor: principal.user.userName,
          addsWork: true,
          decide: (held, manager) => this.decide(manager, held, call),
        },
      );
      this.repeats.committed(call);
      return answer;
    } catch (error) {
      this.repeats.rolledBack(call);
      throw await this.failed(error, principal);
    }
  }

  /** Rights first, then the stored answer of a call that repeats one, then what only the tokens tell. */
  private async decide(
    manager: EntityManager,
    held: LockedInstance,
    call: UiActionCall,
  ): Promise<Decision<UiActionAnswer>> {
    const { principal, key, body, repeat } = call;
    const definition = held.definition();
    const place = this.access.demand(principal, held.row, definition, key.uiActionSvcUuid);
    const stored = repeat === undefined ? null : await this.answers.find(manager, repeat, held.row.shard);
    if (stored !== null && repeat !== undefined) {
      // An answer is stored for this path, so its token was there; another body may still be refused.
      inThisTurn(() => refuseInput(definition, place, body));
      return { answer: this.answers.answer(stored, repeat) as UiActionAnswer };
    }
    const loaded = await held.load();
    const { id: tokenId, live } = await this.tokenOf(manager, loaded, key);
    inThisTurn(() => refuseInput(definition, place, body));
    const executed = this.repeats.repeated(loaded, tokenId, place, call);
    if (executed !== undefined) {
      const { node, backTo } = executed;
      const answer = toAnswer(backTo ?? key.tokenUuid, definition, { node, back: backTo !== undefined });
      // As old as the first one.
      return { answer: await this.kept(manager, call, held.row, answer, held.row.modifiedAt) };
    }
    if (live === undefined) {
      throw new ProcessStateError('TOKEN_NOT_ACTIVE', 'The token is not active.');
    }
    demandMatch(call.ifMatch, visitTag(live));
    const { uiActionSvcUuid } = key;
    return {
      command: { kind: 'UI_ACTION', tokenId, uiActionSvcUuid, body, goesBack: call.goesBack },
      made: (result) => this.repeats.noted(result, loaded, live, place, call),
      after: (outcome) => this.kept(manager, call, held.row, answerOf(outcome), outcome.now),
    };
  }

  /**
   * The token of a path; `live` is undefined when it has ended.
   * @throws ProcessTokenNotFoundError
   */
  private async tokenOf(
    manager: EntityManager,
    { row, state }: LoadedInstance,
    { tokenUuid }: UiActionKey,
  ): Promise<{ id: number; live: TokenState | undefined }> {
    const live = [...state.tokens.values()].find(({ uuid }) => uuid === tokenUuid);
    const token = live ?? (await this.tokens.find(manager, row.id, tokenUuid));
    if (token === null) {
      throw new ProcessTokenNotFoundError();
    }
    return { id: token.id, live };
  }

  /** An answer, stored for a call that repeats this one. */
  private async kept(
    manager: EntityManager,
    { repeat }: UiActionCall,
    { shard }: InstanceRow,
    answer: UiActionAnswer,
    now: Date,
  ): Promise<UiActionAnswer> {
    if (repeat !== undefined) {
      await this.answers.keep(manager, repeat, { shard, answer, now });
    }
    return answer;
  }

  private async failed(error: unknown, principal: Principal): Promise<unknown> {
    if (error instanceof EngineRefusal) {
      return this.failures.refused(error);
    }
    if (error instanceof FailedStepError) {
      const report = await this.failures.stopped(error, { actor: principal.user.userName });
      return stopError(report, isOfMissingData(error.incident));
    }
    return error;
  }
}

function answerOf({ before: { definition, state }, result }: StepOutcome): UiActionAnswer {
  const { action, changedTokens } = result;
  if (action === null) {
    throw new TypeError('A UI action ends with a token somewhere.');
  }
  const token = changedTokens.find(({ id }) => id === action.tokenId) ?? state.tokens.get(action.tokenId);
  return toAnswer(token?.uuid ?? '', definition, action);
}

function toAnswer(
  tokenUuid: string,
  definition: RunnableDefinition,
  { node, back }: { node: number; back: boolean },
): UiActionAnswer {
  return {
    tokenUuid,
    currentNodeId: definition.nodeAt(node)?.id ?? 0,
    templatesSequence: null,
    backAction: back,
    resetToken: back,
  };
}
