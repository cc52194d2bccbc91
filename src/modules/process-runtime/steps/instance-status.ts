import type { InstanceStatus, InstanceState } from '../engine/state/engine.types.js';
import type { InstanceContent, InstanceRow } from '../storage/process-instance.entity.js';
import { addDuration, parseDuration } from '../../../common/iso-8601.js';
import type { NewJob } from '../../jobs/model/job-queue.types.js';
import { encodeJob, expiryKey, latest, type RuntimeJob } from './runtime-job.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import type { StepBase } from './step.types.js';
import type { TokenRow } from '../storage/process-token.entity.js';

const NOT_ENDED: ReadonlySet<InstanceStatus> = new Set(['CREATED', 'STARTED', 'ONHOLD']);

export function hasEnded(state: InstanceStatus): boolean {
  return !NOT_ENDED.has(state);
}

/** Whether a step lets an instance go on that was on hold. */
export function isReleased(row: InstanceRow, state: InstanceStatus): boolean {
  return row.state === 'ONHOLD' && state === 'STARTED';
}

/** When an instance that starts now expires (`svc:expiresAfter`); null when it never does. */
export function expiryOf({ graph }: RunnableDefinition, now: Date): Date | null {
  const duration = graph.expiresAfter === null ? undefined : parseDuration(graph.expiresAfter);
  return duration === undefined ? null : latest(new Date(addDuration(now.getTime(), duration)));
}

/** When an instance expires after a step. One that could not start has no time yet; it begins when it starts after all. */
export function expiryAfter({ row, isNew, definition }: StepBase, now: Date): Date | null {
  return !isNew && row.state === 'CREATED' ? expiryOf(definition, now) : row.expiresAt;
}

/** The job that ends an instance at this time; it is cancelled by its key. */
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

/** What of the engine's instance is stored as its content. */
export function contentOf(instance: InstanceState): Omit<InstanceContent, 'parked' | 'corrections'> {
  const { data, joins, returnPoints, executions, pending, continues, backCounter } = instance;
  return { data, joins, returnPoints, executions, pending, continues, backCounter };
}

/** An instance as the engine knows it. */
export function toInstanceState(
  { id, uuid, state, seq, parentUuid, content }: InstanceRow,
  tokens: readonly Pick<TokenRow, 'state'>[],
): InstanceState {
  const { parked: _parked, corrections: _corrections, ...known } = content;
  const live = new Map(tokens.map((token) => [token.state.id, token.state]));
  return { id, uuid, state, seq, parentUuid, ...known, tokens: live };
}
