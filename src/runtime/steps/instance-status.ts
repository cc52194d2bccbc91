import type {
  InstanceStatus,
  InstanceState,
  InstanceWork,
  EngineCommand,
  ExecutedCall,
  StepResult,
} from '#engine/tokens';
import type { InstanceRow } from '../storage/process-instance.entity.js';
import { addDuration, parseDuration } from '#engine/support';
import type { NewJob } from '../../jobs/model/job-queue.types.js';
import { encodeJob, expiryKey, limitedTime, type RuntimeJob } from './runtime-job.js';
import type { RunnableDefinition } from '../definitions/runnable-definitions.service.js';
import type { StepBase, LoadedInstance } from './step.types.js';
import type { TokenRow } from '../storage/process-token.entity.js';
import type { LockTime } from '../storage/instances.repository.js';

const NOT_ENDED: ReadonlySet<InstanceStatus> = new Set(['CREATED', 'STARTED', 'ONHOLD']);

export function hasEnded(state: InstanceStatus): boolean {
  return !NOT_ENDED.has(state);
}

/** Whether a step releases an instance that was on hold. */
export function isReleased(row: InstanceRow, state: InstanceStatus): boolean {
  return row.state === 'ONHOLD' && state === 'STARTED';
}

/** Returns when an instance that starts now expires (`svc:expiresAfter`); null for never. */
export function expiryOf({ graph }: RunnableDefinition, now: Date): Date | null {
  const duration = graph.expiresAfter === null ? undefined : parseDuration(graph.expiresAfter);
  return duration === undefined ? null : limitedTime(new Date(addDuration(now.getTime(), duration)));
}

/** Returns when an instance expires after a step. For an instance that could not start, the time begins with its first step. */
export function expiryAfter({ row, isNew, definition }: StepBase, now: Date): Date | null {
  return !isNew && row.state === 'CREATED' ? expiryOf(definition, now) : row.expiresAt;
}

/** Returns the job that ends an instance at a time. It is cancelled by its key. */
export function expiryJob(instanceId: number, expiresAt: Date): NewJob {
  const job: RuntimeJob = { kind: 'EXPIRY' };
  return {
    kind: job.kind,
    availableAt: expiresAt,
    payload: encodeJob(job),
    instanceId,
    dedupeKey: expiryKey(instanceId),
  };
}

/** Returns the part of an engine instance that is stored as its content. */
export function contentOf(instance: InstanceState): InstanceWork {
  const { data, joins, returnPoints, executions, pending, continues, backCounter } = instance;
  return { data, joins, returnPoints, executions, pending, continues, backCounter };
}

/** Returns a stored instance in the form of the engine. */
export function toInstanceState(
  { id, uuid, state, seq, parentUuid, content }: InstanceRow,
  tokens: readonly Pick<TokenRow, 'state'>[],
): InstanceState {
  const { parked: _parked, corrections: _corrections, ...known } = content;
  const live = new Map(tokens.map((token) => [token.state.id, token.state]));
  return { id, uuid, state, seq, parentUuid, ...known, tokens: live };
}

/** Minimum number of executions that an instance keeps. It drops older ones once they are outside the window. */
const KEPT = 20;
/** How long executions on an ended token are kept, for calls that were received earlier and have waited. */
const ENDED_MS = 60_000;

/** Returns the current time of the database clock, in epoch milliseconds. */
export function databaseTimeOf({ at, sentAt }: LockTime): number {
  return at + performance.now() - sentAt;
}

/** Adds an execution to those of an instance, which keeps the last one of each action on each token. */
export function withExecution(
  { executions, tokens }: Pick<InstanceState, 'executions' | 'tokens'>,
  executed: ExecutedCall,
  windowMs: number,
): ExecutedCall[] {
  const { tokenId: id, actionSvcUuid: action, at } = executed;
  const kept = executions.filter(
    (other) =>
      (other.tokenId !== id || other.actionSvcUuid !== action) &&
      (tokens.has(other.tokenId) || other.at > at - ENDED_MS),
  );
  const all = [...kept, executed];
  return all.filter((other, index) => index >= all.length - KEPT || other.at > at - windowMs);
}

/** Extends an execution by a background step that completes its action. */
export function withExtendedExecution(
  result: StepResult,
  { row, locked }: LoadedInstance,
  command: EngineCommand,
): StepResult {
  const { instance } = result;
  const isLast = ({ tokenId, visit }: ExecutedCall): boolean =>
    (command.kind === 'ACTION_DUE' || command.kind === 'ACTION_DONE') &&
    tokenId === command.tokenId &&
    visit === command.visit;
  if (!instance.executions.some(isLast)) {
    return result;
  }
  const last = { at: databaseTimeOf(locked), rev: row.rev + 1 };
  const executions = instance.executions.map((call) => (isLast(call) ? { ...call, ...last } : call));
  return { ...result, instance: { ...instance, executions } };
}
