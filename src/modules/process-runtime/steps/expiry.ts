import { addDuration, parseDuration } from '../../../common/iso-8601.js';
import type { NewJob } from '../../jobs/model/job-queue.types.js';
import { encodeJob, expiryKey, latest, type RuntimeJob } from './runtime-job.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import type { StepBase } from './step.types.js';

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
