import { hash } from 'node:crypto';
import type { JsonObject } from '#engine/json';
import type { RunningInstances } from '../../delivery/builds/model/builds.types.js';
import type { EngineJob, InstanceStatus } from '#engine/tokens';
import type { IncidentRow } from '../storage/incidents.repository.js';
import type { MessageRow, WaitRow } from '../storage/messages.repository.js';
import type { ParkedJob } from '../storage/process-instance.entity.js';

/** Work for the background that the engine does not know of. */
export type ServiceJob =
  /** The start of an instance that stopped at once: never queued, kept with the incident for a retry. `node` is the start event. */
  | { kind: 'START'; node: number }
  /** The time of the definition's `expiryTime` has come. */
  | { kind: 'EXPIRY' }
  /** Brings messages and tokens that wait for them together. */
  | { kind: 'MATCH_MESSAGE'; key: string }
  /** Brings a message to a token whose instance is in another shard; it is stored nowhere else meanwhile. */
  | { kind: 'HAND_OVER'; message: HandedMessage; wait: WaitRow }
  /** Gives a message to a token that has waited for it. */
  | { kind: 'DELIVERY'; tokenId: number; visit: number; node: number; payload: JsonObject }
  /** A timer start event of an active build is due. */
  | {
      kind: 'TIMER_START';
      definitionId: number;
      node: number;
      anchor: number;
      occurrence: number;
      at: number;
    }
  /** Holds or terminates running instances of a withdrawn build, for the last time at `until`. */
  | {
      kind: 'WITHDRAWN_BUILD';
      appId: string;
      buildId: string;
      running: Exclude<RunningInstances, RunningInstances.Continue>;
      actor: string;
      at: number;
      until: number;
    }
  /** Removes answers and messages that have expired. */
  | { kind: 'PROCESS_CLEANUP'; at: number };

/** A message on its way; times in epoch milliseconds. */
export type HandedMessage = Omit<MessageRow, 'publishedAt' | 'expiresAt'> & {
  publishedAt: number;
  expiresAt: number;
};

export type RuntimeJob = EngineJob | ServiceJob;

/** Jobs of a token that mean nothing after its visit; others go on. */
export const VISIT_KINDS: readonly string[] = ['TIMER', 'ACTION_DUE', 'WORKFLOW'];

/** The latest time that columns hold, and ISO 8601 writes with four digits of a year. */
const LATEST = Date.UTC(9_999, 11, 31);

/** A job's payload: text, since data may hold what `json` columns of MySQL refuse, such as half a surrogate pair. */
export function encodeJob(job: RuntimeJob): JsonObject {
  return { text: JSON.stringify(job) };
}

/** What `encodeJob` was given. */
export function decodeJob<Kind extends RuntimeJob['kind']>(
  payload: JsonObject,
): Extract<RuntimeJob, { kind: Kind }> {
  return JSON.parse(payload['text'] as string) as Extract<RuntimeJob, { kind: Kind }>;
}

/** The time itself, or the end of the year 9999 when it lies beyond. */
export function latest(time: Date): Date {
  return time.getTime() <= LATEST ? time : new Date(LATEST);
}

/** Key under which the expiry of an instance is cancelled. */
export function expiryKey(instanceId: number): string {
  return `process-expiry:${instanceId}`;
}

/** Names a piece of work that must be the same when its job was put off in between. */
export function runKeyOf({ id, payload }: { id: number; payload: JsonObject }): string {
  return typeof payload['runKey'] === 'string' ? payload['runKey'] : `process-job:${id}`;
}

/** Key of the workflow run that stopped work has begun; null when it is no workflow. */
export function stoppedRunOf({ kind, payload }: ParkedJob): string | null {
  return kind === 'WORKFLOW' && typeof payload['runKey'] === 'string' ? payload['runKey'] : null;
}

/** Payload of new work: the same as work that is retried keeps the key of its run; with other data it is other work. */
export function continued(
  { kind, payload }: { kind: string; payload: JsonObject },
  retried: ParkedJob | undefined,
): JsonObject {
  return retried?.kind === kind && retried.payload['text'] === payload['text'] ? retried.payload : payload;
}

/** Whether background work still means something when its instance has ended so: what none of its tokens waits for. */
export function outlives(
  { kind, payload }: Pick<ParkedJob, 'kind' | 'payload'>,
  end: InstanceStatus,
): boolean {
  switch (kind) {
    case 'END_CHILDREN':
    case 'MATCH_MESSAGE':
      return true;
    case 'CALL':
      return end === 'FINISHED' && !decodeJob<'CALL'>(payload).waits;
    default:
      return false;
  }
}

/**
 * Names what has stopped: a piece of background work, or else the place where a caller's request did. Not by what was said of
 * it: many pieces fail with one message, and one may fail with another message each time.
 */
export function workKeyOf(
  job: ParkedJob | null,
  { tokenId, visit, node, actionSvcUuid }: Pick<IncidentRow, 'tokenId' | 'visit' | 'node' | 'actionSvcUuid'>,
): string {
  const name =
    job === null
      ? [tokenId, visit, node, actionSvcUuid]
      : [job.kind, job.instanceId, job.tokenId, job.payload['text']];
  return hash('sha256', JSON.stringify(name));
}
