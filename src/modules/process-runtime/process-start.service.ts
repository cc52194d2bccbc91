import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { callerHash, type Principal } from '../../common/auth/principal.js';
import type { JsonObject } from '../../common/data-paths.js';
import { Database } from '../../database/database.js';
import { isDuplicate } from '../../database/driver-errors.js';
import { EngineIncident, EngineRefusal } from './engine/engine.errors.js';
import { repeatKey, repeatedAnswer, type RepeatKey } from './idempotency.js';
import { demandLane } from './lanes.js';
import { ProcessIncidentError } from './process-runtime.errors.js';
import type { ProcessKey, StartAnswer } from './process-runtime.types.js';
import { RunnableDefinitionsService } from './runnable-definitions.service.js';
import { chooseStart, readStartBody, refuseStartFaults, requirePlatform } from './start-choice.js';
import { ProcessStarter, type PreparedStart, type StartRequest } from './step/process-starter.js';
import { toDomainError } from './step/refusals.js';
import type { RunnableDefinition } from './step/runnable-definition.js';
import { StepResources } from './step/step-resources.js';
import { RuntimeRows } from './storage/runtime-rows.js';
import { toTokenView } from './token-view.js';

/** What a caller sends to start a process. */
export interface StartCall {
  body: JsonObject;
  /** Header `svc-platform`. */
  platform: string | undefined;
  /** Header `Idempotency-Key`. */
  idempotencyKey: string | undefined;
}

/** Another call with the same key was first. Never leaves the service. */
class RepeatTakenError extends Error {
  override readonly name = 'RepeatTakenError';
}

/** Starts processes for callers (interface contract, endpoint 7; decisions, section 5). */
@Injectable()
export class ProcessStartService {
  constructor(
    private readonly database: Database,
    private readonly definitions: RunnableDefinitionsService,
    private readonly starter: ProcessStarter,
    private readonly rows: RuntimeRows,
    private readonly resources: StepResources,
  ) {}

  /** @throws BuildNotFoundError, ProcessDefinitionNotFoundError */
  async demandDefinition({ appId, buildId, processName }: ProcessKey): Promise<RunnableDefinition> {
    return this.definitions.byName(appId, buildId, processName);
  }

  /**
   * Starts a process. The same call with the same Idempotency-Key starts it once and gets the same answer.
   * @throws BuildNotFoundError, ProcessDefinitionNotFoundError
   * @throws StartNodeNotFoundError, StartConditionMissingError, LanePermissionError
   * @throws ValidationFailedError, MandatoryParamsMissingError, ProcessDataTooLargeError
   * @throws ProcessStateError when the key was used with another body
   * @throws ProcessIncidentError when the process stops at once; it is kept as CREATED, with the incident
   */
  async start(principal: Principal, key: ProcessKey, call: StartCall): Promise<StartAnswer> {
    const definition = await this.demandDefinition(key);
    const { startCondition, data } = readStartBody(call.body);
    const node = chooseStart(definition.graph, startCondition);
    demandLane(definition, node, principal);
    const platform = requirePlatform(call.platform);
    refuseStartFaults(definition.faultsOfStart(data));
    const path = ['start', key.appId, key.buildId, key.processName];
    const repeat = repeatKey(principal, path, call.idempotencyKey, call.body);
    const request: StartRequest = {
      definition,
      startNode: node.index,
      data,
      platform,
      starter: callerHash(principal),
      startedBy: principal.user,
      parent: null,
      rootAppId: definition.build.rootApplicationId,
      depth: 0,
    };
    return repeat === undefined ? this.startOnce(request, undefined) : this.startOrRepeat(request, repeat);
  }

  private async startOrRepeat(request: StartRequest, repeat: RepeatKey): Promise<StartAnswer> {
    try {
      return await this.startOnce(request, repeat);
    } catch (error) {
      if (!(error instanceof RepeatTakenError)) {
        throw error;
      }
    }
    const stored = await this.database.read((manager) => this.rows.repeats.find(manager, repeat.keyHash));
    // Removed for its age between the two statements: then this is a first call again.
    return stored === null
      ? this.startOnce(request, repeat)
      : (repeatedAnswer(stored, repeat) as StartAnswer);
  }

  private async startOnce(request: StartRequest, repeat: RepeatKey | undefined): Promise<StartAnswer> {
    try {
      return await this.starter.start(request, {
        begin: async (manager, prepared) => {
          const answer = toStartAnswer(request.definition, prepared);
          await this.keep(manager, repeat, answer, prepared.now);
          return answer;
        },
      });
    } catch (error) {
      if (error instanceof EngineRefusal) {
        throw toDomainError(error, this.resources.limits.dataBytes);
      }
      throw error instanceof EngineIncident ? new ProcessIncidentError({ cause: error }) : error;
    }
  }

  /** First, so that a call that comes second waits here and has written nothing yet. */
  private async keep(
    manager: EntityManager,
    repeat: RepeatKey | undefined,
    answer: StartAnswer,
    now: Date,
  ): Promise<void> {
    if (repeat === undefined) {
      return;
    }
    const { keyHash, bodyHash } = repeat;
    try {
      await this.rows.repeats.insert(manager, keyHash, { bodyHash, response: JSON.stringify(answer) }, now);
    } catch (error) {
      throw isDuplicate(error) ? new RepeatTakenError() : error;
    }
  }
}

function toStartAnswer(definition: RunnableDefinition, { row, result, now }: PreparedStart): StartAnswer {
  const tokens = [...result.instance.tokens.values()]
    .filter(({ state }) => state === 'ACTIVE' || state === 'ON_HOLD')
    .map((token) => toTokenView(definition, token, now));
  return {
    processDefinitionSvcUuid: row.definitionSvcUuid,
    buildId: row.buildId,
    buildStatusAtStart: row.buildStatus,
    applicationId: row.appId,
    parentApplicationId: row.parent?.appId ?? null,
    rootApplicationId: row.rootAppId,
    processDefinitionName: row.processName,
    tokens,
    state: result.instance.state,
    uuid: row.uuid,
    instanceMetadata: { processInstanceId: row.id, processInstanceUuid: row.uuid },
  };
}
