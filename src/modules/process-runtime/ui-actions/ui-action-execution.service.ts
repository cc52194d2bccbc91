import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import type { JsonObject } from '../../../common/json.js';
import { requestContext } from '../../../common/logging/request-context.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import type { UiActionPlace } from '../engine/state/runtime-definition.js';
import { repeatKey, repeatedAnswer, type RepeatKey } from '../starts/idempotency.js';
import { faultOf, IncidentsService } from '../steps/incidents.service.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { ProcessStateError, ProcessTokenNotFoundError } from '../model/process-runtime.errors.js';
import type { UiActionAnswer, UiActionKey } from '../model/process-runtime.types.js';
import { FailedStepError } from '../steps/failed-step.error.js';
import { toDomainError } from '../steps/refusals.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import { StepResources } from '../steps/step-resources.js';
import type { LoadedInstance, StepOutcome, StepPlan, Todo } from '../steps/step.types.js';
import type { InstanceRow } from '../storage/instance.row.js';
import { RuntimeRows } from '../storage/runtime-rows.js';
import { isOfMissingData, stopError, toStopReport } from '../steps/stop-report.js';
import { UiActionAccess } from '../access/ui-action-access.js';
import { refuseInput } from './ui-action-input.js';
import { newCommit, UiActionRepeats, type TimedCall } from './ui-action-repeats.js';

/** What a caller sends to execute a UI action. */
interface UiActionCall extends TimedCall {
  key: UiActionKey;
  /** Undefined without an Idempotency-Key. */
  repeat: RepeatKey | undefined;
}

/** Executes UI actions (docs/contract.md, section 4.2). */
@Injectable()
export class UiActionExecutionService {
  constructor(
    private readonly steps: InstanceStepsService,
    private readonly incidents: IncidentsService,
    private readonly rows: RuntimeRows,
    private readonly access: UiActionAccess,
    private readonly repeats: UiActionRepeats,
    private readonly resources: StepResources,
  ) {}

  /**
   * Executes a UI action on a token. The same call with the same Idempotency-Key is executed once and gets the same answer.
   * What is wrong is told in this order, as far as it can be known without what comes behind it.
   * @throws ProcessInstanceNotFoundError, UiActionNotFoundError, LanePermissionError, see `UiActionAccess.demand`
   * @throws ProcessTokenNotFoundError
   * @throws ValidationFailedError, InvalidDataError, ProcessDataTooLargeError
   * @throws ProcessStateError when it cannot be executed now, or the key was used with another body
   * @throws ProcessIncidentError, ProcessDataMissingError when the process stops behind it; the token stays where it is
   */
  async execute(
    principal: Principal,
    key: UiActionKey,
    body: JsonObject,
    idempotencyKey: string | undefined,
  ): Promise<UiActionAnswer> {
    const { processUuid, tokenUuid, uiActionSvcUuid } = key;
    const path = ['ui-action', processUuid, tokenUuid, uiActionSvcUuid];
    const repeat = repeatKey(principal, path, idempotencyKey, body);
    const receivedAt = requestContext()?.receivedAt;
    const call: UiActionCall = {
      principal,
      key,
      body,
      receivedAt,
      commit: newCommit(),
      repeat,
    };
    const plan: StepPlan<UiActionAnswer> = {
      actor: principal.user.userName,
      before: (manager, row, definition) => this.before(manager, row, definition(), call),
      command: (loaded, manager) => this.command(manager, loaded, call),
      made: (result, loaded) => this.repeats.noted(result, loaded, this.placeOf(loaded, call), call),
      after: (outcome, manager) => this.answer(manager, outcome, repeat),
    };
    try {
      const answer = await this.steps.run({ uuid: processUuid }, plan);
      this.repeats.committed(call);
      return answer;
    } catch (error) {
      this.repeats.rolledBack(call);
      throw await this.failed(error, principal);
    }
  }

  /** All that can be told without the tokens, and the stored answer of a call that repeats one. */
  private async before(
    manager: EntityManager,
    row: InstanceRow,
    definition: RunnableDefinition,
    { principal, key, body, repeat }: UiActionCall,
  ): Promise<{ answer: UiActionAnswer } | undefined> {
    const place = this.access.demand(principal, row, definition, key.uiActionSvcUuid);
    const stored = repeat === undefined ? null : await this.rows.repeats.find(manager, repeat.keyHash);
    if (stored === null || repeat === undefined) {
      return undefined;
    }
    // An answer is stored for this path, so its token was there; another body may still be refused.
    refuseInput(definition, place, body);
    return { answer: repeatedAnswer(stored, repeat) as UiActionAnswer };
  }

  private async command(
    manager: EntityManager,
    loaded: LoadedInstance,
    call: UiActionCall,
  ): Promise<Todo<UiActionAnswer>> {
    const { state, row, definition, locked } = loaded;
    const { key, body, repeat } = call;
    const token = [...state.tokens.values()].find(({ uuid }) => uuid === key.tokenUuid);
    if (token === undefined) {
      await this.demandToken(manager, row.id, key.tokenUuid);
    }
    const place = this.placeOf(loaded, call);
    refuseInput(definition, place, body);
    if (token === undefined) {
      throw new ProcessStateError('TOKEN_NOT_ACTIVE', 'The token is not active.');
    }
    const executed = this.repeats.repeated(loaded, token, place, call);
    if (executed !== undefined) {
      const answer = toAnswer(token.uuid, definition, { node: executed.node, back: false });
      await this.keep(manager, repeat, answer, new Date(locked.at));
      return { answer };
    }
    return { kind: 'UI_ACTION', tokenId: token.id, uiActionSvcUuid: key.uiActionSvcUuid, body };
  }

  private async answer(
    manager: EntityManager,
    { before, result, now }: StepOutcome,
    repeat: RepeatKey | undefined,
  ): Promise<UiActionAnswer> {
    const { action } = result;
    if (action === null) {
      throw new TypeError('A UI action ends with a token somewhere.');
    }
    const token =
      result.changedTokens.find(({ id }) => id === action.tokenId) ?? before.state.tokens.get(action.tokenId);
    const answer = toAnswer(token?.uuid ?? '', before.definition, action);
    await this.keep(manager, repeat, answer, now);
    return answer;
  }

  private async keep(
    manager: EntityManager,
    repeat: RepeatKey | undefined,
    answer: UiActionAnswer,
    now: Date,
  ): Promise<void> {
    if (repeat !== undefined) {
      const { keyHash, bodyHash } = repeat;
      await this.rows.repeats.insert(manager, keyHash, { bodyHash, response: JSON.stringify(answer) }, now);
    }
  }

  private placeOf({ row, definition }: LoadedInstance, { principal, key }: UiActionCall): UiActionPlace {
    return this.access.demand(principal, row, definition, key.uiActionSvcUuid);
  }

  private async demandToken(manager: EntityManager, instanceId: number, uuid: string): Promise<void> {
    if ((await this.rows.tokens.find(manager, instanceId, uuid)) === null) {
      throw new ProcessTokenNotFoundError();
    }
  }

  private async failed(error: unknown, principal: Principal): Promise<unknown> {
    if (error instanceof EngineRefusal) {
      return toDomainError(error, this.resources.limits.dataBytes);
    }
    if (error instanceof FailedStepError) {
      const { instanceId, instanceUuid, incident, definition } = error;
      const origin = { actor: principal.user.userName };
      const uuid = await this.incidents.record(instanceId, faultOf(error), origin);
      return stopError(toStopReport(incident, instanceUuid, definition, uuid), isOfMissingData(incident));
    }
    return error;
  }
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
