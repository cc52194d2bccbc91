import { Injectable } from '@nestjs/common';
import { runYielding } from '#engine/support';
import { callerHash, type Principal } from '../../platform/user/principal.js';
import type { JsonObject } from '#engine/json';
import { asReplay, isReplay } from '../../platform/http/replays.js';
import { PermissionDeniedError } from '../../platform/auth/auth.errors.js';
import { Env } from '../../platform/config/env.js';
import { shardOfHash } from '../../store/shards.js';
import { EngineRefusal, type InstanceState, type TokenState } from '#engine/tokens';
import { pageLimits } from '../../platform/validation/page.limits.js';
import { BuildDefinitionsService } from '../../delivery/builds/contents/build-definitions.service.js';
import { StartNodeNotFoundError } from '../model/process-runtime.errors.js';
import { toStartableProcess, type ProcessesQueryDto, type ProcessPageDto } from './startable-process.dto.js';
import { BuildStatusService } from '../../delivery/builds/active/build-status.service.js';
import { repeatKey, type RepeatKey } from '../../idempotency/idempotency-key.dto.js';
import { RepeatsService } from '../../idempotency/repeats.service.js';
import type { StopReport } from '../model/stopped.response.dto.js';
import type { DefinitionKey } from '../../delivery/builds/model/builds.types.js';
import {
  RunnableDefinitionsService,
  type RunnableDefinition,
} from '../definitions/runnable-definitions.service.js';
import {
  chooseStart,
  readStartBody,
  refusalAt,
  refusalOfAll,
  refuseStartFaults,
  requirePlatform,
  settingRefusal,
  startEventsFor,
  type StartCaller,
} from './start-choice.js';
import { ProcessStarter, type ProcessStart, type StartRequest } from '../steps/process-starter.js';
import { toDomainError, isOfMissingData, stopError, toStopReport } from '../steps/step-failures.js';
import type { InstanceRow } from '../storage/process-instance.entity.js';
import type { StartProcessResponseDto, TokenDto } from '../model/start.response.dto.js';

export interface StartCall {
  body: JsonObject;
  /** Header `svc-platform`. */
  platform: string | undefined;
  /** Header `Idempotency-Key`. */
  idempotencyKey: string | undefined;
}

/** Result of a start, which is also stored for its Idempotency-Key. */
type StartOutcome = StartProcessResponseDto | { stopped: StopReport; isMissing: boolean };

/** Starts processes for callers (docs/contract.md, section 4.1). */
@Injectable()
export class ProcessStartService {
  constructor(
    private readonly definitions: RunnableDefinitionsService,
    private readonly starter: ProcessStarter,
    private readonly repeats: RepeatsService,
    private readonly buildStatus: BuildStatusService,
    private readonly env: Env,
    private readonly builds: BuildDefinitionsService,
  ) {}

  /**
   * Lists the processes of a build without its libraries: how each is started, and whether the caller may (docs/contract.md, section 4.1a).
   * Reads stored definitions, because runnable ones take many times the memory.
   * @throws BuildNotFoundError
   */
  async page(
    principal: Principal,
    build: Omit<DefinitionKey, 'processName'>,
    { after, limit = pageLimits.size }: ProcessesQueryDto,
  ): Promise<ProcessPageDto> {
    const { items, next } = await this.builds.page({ ...build, after }, limit);
    const { ofCaller, ofAll } = await this.buildStatus.refusalsOf(principal, build.appId, build.buildId);
    const caller = this.callerOf(principal);
    // In the order of the checks of a start (docs/contract.md, section 4.3).
    const processes = items.map((definition) => {
      const starts = startEventsFor({ build: definition }, caller);
      const own = refusalOfAll({ build: definition }, starts, caller);
      const first = own instanceof PermissionDeniedError ? own : ofCaller;
      const noStart = starts.length === 0 ? new StartNodeNotFoundError() : null;
      return toStartableProcess(definition, starts, first ?? own ?? noStart ?? ofAll);
    });
    return { processes, next };
  }

  /** Checks `PROCESS_START_PERMISSION` without reading the path. @throws PermissionDeniedError */
  requireStartPermission(principal: Principal, appId: string): void {
    const refusal = settingRefusal(appId, this.callerOf(principal));
    if (refusal !== null) {
      throw refusal;
    }
  }

  /**
   * Checks before the body is read whether the process exists and whether the caller may start it at all. Callers without
   * `PROCESS_START_PERMISSION` get the same error for a process that does not exist.
   * @throws BuildNotFoundError, ProcessDefinitionNotFoundError
   * @throws BuildNeverActiveError
   * @throws PermissionDeniedError, LanePermissionError when the caller may start at none of its start events
   */
  async requireStartable(principal: Principal, key: DefinitionKey): Promise<void> {
    const caller = this.callerOf(principal);
    const definition = await this.definition(key).catch((error: unknown) => {
      throw settingRefusal(key.appId, caller) ?? error;
    });
    const refusal = refusalOfAll(definition, startEventsFor(definition, caller), caller);
    if (!(refusal instanceof PermissionDeniedError)) {
      await this.buildStatus.requireStarter(principal, key.appId, key.buildId);
    }
    if (refusal !== null) {
      throw refusal;
    }
  }

  /**
   * Starts a process. Repeated calls with the same Idempotency-Key start it once and get the same response. A process that stops at once is
   * stored as CREATED with its incident, and the response is an error.
   * @throws BuildNotFoundError, ProcessDefinitionNotFoundError
   * @throws StartNodeNotFoundError, StartConditionMissingError, PermissionDeniedError, LanePermissionError
   * @throws ValidationFailedError, MandatoryParamsMissingError, ProcessDataTooLargeError
   * @throws IdempotencyKeyReusedError when the key was used with another body
   * @throws BuildWithdrawnError, QuotaExceededError
   * @throws ProcessIncidentError, ProcessDataMissingError when it stops at once
   */
  async start(principal: Principal, key: DefinitionKey, call: StartCall): Promise<StartProcessResponseDto> {
    const definition = await this.definition(key);
    const { startCondition, data } = readStartBody(call.body);
    const node = chooseStart(definition.graph, startCondition);
    const refusal = refusalAt(definition, node, this.callerOf(principal));
    if (refusal !== null) {
      throw refusal;
    }
    const platform = requirePlatform(call.platform);
    refuseStartFaults(await runYielding(definition.faultsOfStart(data)));
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
      // The answer and the instance share a shard, in which the key is unique.
      shard: repeat === undefined ? null : shardOfHash(repeat.keyHash),
      rootAppId: definition.build.rootApplicationId,
      depth: 0,
      keepsStopped: true,
    };
    const outcome = await (repeat === undefined
      ? this.startOnce(request, undefined)
      : this.repeats.once(repeat, () => this.startOnce(request, repeat)));
    if ('stopped' in outcome) {
      const error = stopError(outcome.stopped, outcome.isMissing);
      throw isReplay(outcome) ? asReplay(error) : error;
    }
    return outcome;
  }

  private callerOf(principal: Principal): StartCaller {
    return { principal, permission: this.env.get('PROCESS_START_PERMISSION') };
  }

  private definition({ appId, buildId, processName }: DefinitionKey): Promise<RunnableDefinition> {
    return this.definitions.byName(appId, buildId, processName);
  }

  private async startOnce(request: StartRequest, repeat: RepeatKey | undefined): Promise<StartOutcome> {
    await this.buildStatus.requireNotWithdrawn(request.definition.build.buildId);
    try {
      const stored = await this.starter.start(request, async (transaction, start) => {
        if (repeat !== undefined) {
          const { now, row } = start;
          await this.repeats.keep(transaction, repeat, { shard: row.shard, answer: toOutcome(start), now });
        }
      });
      return toOutcome(stored);
    } catch (error) {
      throw error instanceof EngineRefusal ? toDomainError(error) : error;
    }
  }
}

function toOutcome(start: ProcessStart): StartOutcome {
  const { row, now, request } = start;
  if ('error' in start) {
    const { error, incident } = start;
    const stopped = toStopReport(error, row.uuid, request.definition, incident.uuid);
    return { stopped, isMissing: isOfMissingData(error) };
  }
  return toStartAnswer(request.definition, row, start.result.instance, now);
}

function toStartAnswer(
  definition: RunnableDefinition,
  row: InstanceRow,
  { state, tokens: all }: InstanceState,
  now: Date,
): StartProcessResponseDto {
  const tokens = [...all.values()]
    .filter(({ state }) => state === 'ACTIVE' || state === 'ON_HOLD')
    .map((token) => toTokenView(definition, token, now));
  return {
    processDefinitionSvcUuid: row.definitionSvcUuid,
    buildId: row.buildId,
    buildStatusAtStart: row.buildStatus,
    applicationId: row.appId,
    parentApplicationId: row.parentAppId,
    rootApplicationId: row.rootAppId,
    processDefinitionName: row.processName,
    tokens,
    state,
    uuid: row.uuid,
    instanceMetadata: { processInstanceId: row.id, processInstanceUuid: row.uuid },
  };
}

/** Returns a token for callers, with node numbers that stay the same in later builds. */
export function toTokenView(definition: RunnableDefinition, token: TokenState, updated: Date): TokenDto {
  const node = definition.nodeAt(token.node);
  return {
    id: token.id,
    uuid: token.uuid,
    state: token.state,
    statusCurrentNode: token.status,
    visit: token.visit,
    startNodeId: definition.nodeAt(token.startNode)?.id ?? null,
    currentNodeId: node?.id ?? 0,
    currentNodeName: node?.name ?? null,
    dateUpdated: updated.toISOString(),
  };
}
