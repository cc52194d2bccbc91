import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../common/auth/principal.js';
import type { JsonObject } from '../../common/data-paths.js';
import { Database } from '../../database/database.js';
import { EngineRefusal } from './engine/engine.errors.js';
import type { EngineCommand } from './engine/engine.types.js';
import type { UiActionPlace } from './engine/runtime-definition.js';
import { repeatKey, repeatedAnswer, type RepeatKey } from './idempotency.js';
import { faultOf, IncidentsService } from './incidents.service.js';
import { InstanceStepsService } from './instance-steps.service.js';
import { demandLane } from './lanes.js';
import {
  ProcessIncidentError,
  ProcessInstanceNotFoundError,
  ProcessStateError,
  ProcessTokenNotFoundError,
  UiActionNotFoundError,
} from './process-runtime.errors.js';
import type { UiActionAnswer, UiActionKey } from './process-runtime.types.js';
import { RunnableDefinitionsService } from './runnable-definitions.service.js';
import { FailedStepError } from './step/failed-step.error.js';
import { toDomainError } from './step/refusals.js';
import type { RunnableDefinition } from './step/runnable-definition.js';
import { StepResources } from './step/step-resources.js';
import type { LoadedInstance, StepOutcome, StepPlan } from './step/step.types.js';
import { RuntimeRows } from './storage/runtime-rows.js';
import { refuseInput } from './ui-action-input.js';

/** What a caller sends to execute a UI action. */
interface UiActionCall {
  principal: Principal;
  key: UiActionKey;
  body: JsonObject;
}

/** Executes UI actions (interface contract, endpoint 8; decisions, section 7). */
@Injectable()
export class UiActionExecutionService {
  constructor(
    private readonly database: Database,
    private readonly steps: InstanceStepsService,
    private readonly incidents: IncidentsService,
    private readonly rows: RuntimeRows,
    private readonly definitions: RunnableDefinitionsService,
    private readonly resources: StepResources,
  ) {}

  /**
   * Executes a UI action on a token. The same call with the same Idempotency-Key is executed once and gets the same answer.
   * What is wrong is told in this order, as far as it can be known without what comes behind it.
   * @throws ProcessInstanceNotFoundError, UiActionNotFoundError, without which there is no lane
   * @throws LanePermissionError
   * @throws ProcessTokenNotFoundError
   * @throws ValidationFailedError, InvalidDataError, ProcessDataTooLargeError
   * @throws ProcessStateError when it cannot be executed now, or the key was used with another body
   * @throws ProcessIncidentError when the process stops behind it; the token stays where it is
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
    const call: UiActionCall = { principal, key, body };
    const plan: StepPlan<UiActionAnswer> = {
      actor: principal.user.userName,
      before: (manager, _row, definition) => this.before(manager, definition(), call, repeat),
      command: (loaded, manager) => this.command(manager, loaded, call),
      after: (outcome, manager) => this.answer(manager, outcome, repeat),
    };
    try {
      return await this.steps.run({ uuid: processUuid }, plan);
    } catch (error) {
      throw await this.failed(error, principal);
    }
  }

  /**
   * For a request whose body cannot be read, which comes after all that is wrong with its path.
   * @throws ProcessInstanceNotFoundError, UiActionNotFoundError, LanePermissionError, ProcessTokenNotFoundError
   */
  async demandPath(
    principal: Principal,
    { processUuid, tokenUuid, uiActionSvcUuid }: UiActionKey,
  ): Promise<void> {
    const head = await this.database.read((manager) =>
      this.rows.instances.findHead(manager, { uuid: processUuid }),
    );
    if (head === null) {
      throw new ProcessInstanceNotFoundError();
    }
    demandAction(await this.definitions.byId(head.definitionId), uiActionSvcUuid, principal);
    await this.database.read((manager) => this.demandToken(manager, head.id, tokenUuid));
  }

  /** All that can be told without the tokens, and the stored answer of a call that repeats one. */
  private async before(
    manager: EntityManager,
    definition: RunnableDefinition,
    { principal, key, body }: UiActionCall,
    repeat: RepeatKey | undefined,
  ): Promise<{ answer: UiActionAnswer } | undefined> {
    const place = demandAction(definition, key.uiActionSvcUuid, principal);
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
    { state, row, definition }: LoadedInstance,
    { principal, key, body }: UiActionCall,
  ): Promise<EngineCommand> {
    const token = [...state.tokens.values()].find(({ uuid }) => uuid === key.tokenUuid);
    if (token === undefined) {
      await this.demandToken(manager, row.id, key.tokenUuid);
    }
    refuseInput(definition, demandAction(definition, key.uiActionSvcUuid, principal), body);
    if (token === undefined) {
      throw new ProcessStateError('TOKEN_NOT_ACTIVE', 'The token is not active.');
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
    const answer: UiActionAnswer = {
      tokenUuid: token?.uuid ?? '',
      currentNodeId: before.definition.nodeAt(action.node)?.id ?? 0,
      templatesSequence: null,
      backAction: action.back,
      resetToken: action.back,
    };
    if (repeat !== undefined) {
      const { keyHash, bodyHash } = repeat;
      await this.rows.repeats.insert(manager, keyHash, { bodyHash, response: JSON.stringify(answer) }, now);
    }
    return answer;
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
      await this.incidents.record(error.instanceId, faultOf(error), { actor: principal.user.userName });
      return new ProcessIncidentError({ cause: error });
    }
    return error;
  }
}

/** @throws UiActionNotFoundError, LanePermissionError */
function demandAction(definition: RunnableDefinition, svcUuid: string, principal: Principal): UiActionPlace {
  const place = definition.runtime.uiAction(svcUuid);
  if (place === undefined) {
    throw new UiActionNotFoundError();
  }
  demandLane(definition, place.node, principal);
  return place;
}
