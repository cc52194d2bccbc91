import { addDuration, parseDuration } from '../../../common/iso-8601.js';
import type { NewJob } from '../../jobs/model/job-queue.types.js';
import { encodeJob, expiryKey, latest, type RuntimeJob } from './runtime-job.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';

/** When an instance that starts now expires (`svc:expiresAfter`); null when it never does. */
export function expiryOf({ graph }: RunnableDefinition, now: Date): Date | null {
  const duration = graph.expiresAfter === null ? undefined : parseDuration(graph.expiresAfter);
  return duration === undefined ? null : latest(new Date(addDuration(now.getTime(), duration)));
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
