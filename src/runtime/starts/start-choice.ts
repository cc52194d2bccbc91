import type { JsonObject } from '#engine/json';
import { PermissionDeniedError } from '../../platform/auth/auth.errors.js';
import type { DomainError } from '../../platform/errors/domain.error.js';
import { ValidationFailedError } from '../../platform/errors/request.errors.js';
import { mayFor } from '../../platform/user/grant.js';
import type { Principal } from '../../platform/user/principal.js';
import { REQUIRED_RULE, type SchemaFault } from '#engine/json-schema';
import type { GraphNode, ProcessGraph } from '#engine/definitions';
import { mayAct, type DefinitionWithLanes } from '../definitions/runnable-definitions.service.js';
import {
  LanePermissionError,
  MandatoryParamsMissingError,
  StartConditionMissingError,
  StartNodeNotFoundError,
} from '../model/process-runtime.errors.js';

const START_CONDITION = 'startCondition';
const PLATFORM = /^[A-Za-z0-9_-]{1,32}$/;

/**
 * Separates the reserved key `startCondition` from the body (docs/contract.md, section 4.1).
 * @throws ValidationFailedError when it is not a string
 */
export function readStartBody(body: JsonObject): { startCondition: string | undefined; data: JsonObject } {
  if (!Object.hasOwn(body, START_CONDITION)) {
    return { startCondition: undefined, data: body };
  }
  const { [START_CONDITION]: startCondition, ...data } = body;
  if (typeof startCondition !== 'string') {
    throw new ValidationFailedError([{ field: START_CONDITION, rule: 'must be a string' }]);
  }
  return { startCondition, data };
}

/** Returns the start events that a request can use, which excludes those of timers and messages. */
export function startCandidates({ nodes, starts }: Pick<ProcessGraph, 'nodes' | 'starts'>): GraphNode[] {
  return starts
    .flatMap((index) => nodes[index] ?? [])
    .filter(({ event }) => event === null || event.type === 'NONE');
}

export interface StartEvent {
  readonly node: GraphNode;
  /** Why the caller may not start here; null if they may. */
  readonly refusal: DomainError | null;
}

/** Caller of a start. */
export interface StartCaller {
  readonly principal: Principal;
  /** Value of `PROCESS_START_PERMISSION`. */
  readonly permission: string | undefined;
}

/** Returns the start events that a request can use, with the refusal for this caller. */
export function startEventsFor(definition: DefinitionWithLanes, caller: StartCaller): StartEvent[] {
  return startCandidates(definition.build.graph).map((node) => ({
    node,
    refusal: refusalAt(definition, node, caller),
  }));
}

/** Returns the refusal of any start by this caller, preferably that of a lane; null if they may start somewhere. */
export function refusalOfAll(
  { build }: DefinitionWithLanes,
  starts: readonly StartEvent[],
  caller: StartCaller,
): DomainError | null {
  const refusals = starts.flatMap(({ refusal }) => refusal ?? []);
  if (starts.length === 0) {
    return settingRefusal(build.appId, caller);
  }
  return refusals.length < starts.length
    ? null
    : (refusals.find((one) => one instanceof LanePermissionError) ?? refusals[0] ?? null);
}

/** Returns the refusal of a caller without the permission that `PROCESS_START_PERMISSION` requires. */
export function settingRefusal(
  appId: string,
  { principal, permission }: StartCaller,
): PermissionDeniedError | null {
  return permission === undefined || mayFor(principal, permission, appId)
    ? null
    : new PermissionDeniedError(permission);
}

/** Checks the permissions of `svc:start`, or else of the setting, and then the lane of the start event. */
export function refusalAt(
  definition: DefinitionWithLanes,
  node: GraphNode,
  caller: StartCaller,
): DomainError | null {
  const { principal } = caller;
  const { appId } = definition.build;
  const [first, ...others] = node.startPermissions ?? [];
  const denied =
    first === undefined
      ? settingRefusal(appId, caller)
      : [first, ...others].some((permission) => mayFor(principal, permission, appId))
        ? null
        : new PermissionDeniedError(first);
  return denied ?? (mayAct(definition, node, principal) ? null : new LanePermissionError());
}

/** Returns the start event of a request. @throws StartNodeNotFoundError, StartConditionMissingError */
export function chooseStart(
  graph: Pick<ProcessGraph, 'nodes' | 'starts'>,
  startCondition: string | undefined,
): GraphNode {
  const candidates = startCandidates(graph).filter(
    (node) => startCondition === undefined || node.startCondition === startCondition,
  );
  const [first, second] = candidates;
  if (first === undefined) {
    throw new StartNodeNotFoundError();
  }
  if (second !== undefined && startCondition === undefined) {
    throw new StartConditionMissingError();
  }
  return first;
}

/** Checks the header `svc-platform` (docs/contract.md, section 4.1). @throws ValidationFailedError */
export function requirePlatform(platform: string | undefined): string {
  if (platform === undefined || !PLATFORM.test(platform)) {
    const rule = platform === undefined ? 'is required' : 'must be 1 to 32 letters, digits, "-" or "_"';
    throw new ValidationFailedError([{ field: 'svc-platform', rule }]);
  }
  return platform;
}

/**
 * Rejects a start body that breaks the input schema.
 * @throws MandatoryParamsMissingError when a required field is absent, else ValidationFailedError
 */
export function refuseStartFaults(faults: readonly SchemaFault[]): void {
  const missing = faults.filter(({ rule }) => rule === REQUIRED_RULE).map(({ field }) => field);
  if (missing.length > 0) {
    throw new MandatoryParamsMissingError(missing);
  }
  refuseFaults(faults);
}

/** @throws ValidationFailedError when there are faults */
export function refuseFaults(faults: readonly SchemaFault[]): void {
  if (faults.length > 0) {
    throw new ValidationFailedError(
      faults.map(({ field, rule }) => ({ field: field === '' ? 'body' : field, rule })),
    );
  }
}
