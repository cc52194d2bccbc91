import { hash } from 'node:crypto';
import type { JsonObject } from '#engine/json';
import type { RunningInstances } from '../../delivery/builds/model/builds.types.js';
import type { EngineJob, InstanceStatus } from '#engine/tokens';
import type { IncidentRow } from '../storage/incidents.repository.js';
import type { MessageRow, WaitRow } from '../storage/messages.repository.js';
import type { ParkedJob } from '../storage/process-instance.entity.js';

/** Background work that the engine does not know. */
export type ServiceJob =
  /** Starts an instance that stopped at once. Never queued, but kept with the incident for a retry. `node` is the start event. */
  | { kind: 'START'; node: number }
  /** Ends an instance whose `expiryTime` has passed. */
  | { kind: 'EXPIRY' }
  /** Matches messages and tokens that wait for them. */
  | { kind: 'MATCH_MESSAGE'; key: string }
  /** Delivers a message to a token in another shard. Meanwhile the message is stored nowhere else. */
  | { kind: 'HAND_OVER'; message: HandedMessage; wait: WaitRow }
  /** Delivers a message to a token. */
  | { kind: 'DELIVERY'; tokenId: number; visit: number; node: number; payload: JsonObject }
  /** Runs a timer start event of an active build. */
  | {
      kind: 'TIMER_START';
      definitionId: number;
      node: number;
      anchor: number;
      occurrence: number;
      at: number;
    }
  /** Holds or terminates running instances of a withdrawn build. The last run is at `until`. */
  | {
      kind: 'WITHDRAWN_BUILD';
      appId: string;
      buildId: string;
      running: Exclude<RunningInstances, RunningInstances.Continue>;
      actor: string;
      at: number;
      until: number;
    }
  /** Removes expired answers and messages. */
  | { kind: 'PROCESS_CLEANUP'; at: number };

/** A message in transit; times in epoch milliseconds. */
export type HandedMessage = Omit<MessageRow, 'publishedAt' | 'expiresAt'> & {
  publishedAt: number;
  expiresAt: number;
};

export type RuntimeJob = EngineJob | ServiceJob;

/**
 * What ends the need for work of each kind: the end of the visit of its token, of its instance, or nothing. A call that its token waits for
 * ends with the instance; any other also runs after the instance has finished. A kind without its line does not compile.
 */
const ENDED_BY: Readonly<Record<RuntimeJob['kind'], 'visit' | 'instance' | 'call' | 'nothing'>> = {
  ACTION_DUE: 'visit',
  APPEND_TO_PARENT: 'instance',
  CALL: 'call',
  CONTINUE: 'instance',
  DELIVERY: 'instance',
  END_CHILDREN: 'nothing',
  EXPIRY: 'instance',
  HAND_OVER: 'instance',
  MATCH_MESSAGE: 'nothing',
  NOTIFY_PARENT: 'instance',
  PROCESS_CLEANUP: 'instance',
  PUBLISH_MESSAGE: 'instance',
  START: 'instance',
  TIMER: 'visit',
  TIMER_START: 'instance',
  WITHDRAWN_BUILD: 'instance',
  WORKFLOW: 'visit',
};

/** Kinds of jobs that end with the visit of their token. */
export const VISIT_KINDS: readonly string[] = Object.entries(ENDED_BY).flatMap(([kind, by]) =>
  by === 'visit' ? [kind] : [],
);

/** The latest time that columns can store and that has a four-digit year in ISO 8601. */
const LATEST = Date.UTC(9_999, 11, 31);

/** Returns the payload of a job. It is text, because `json` columns of MySQL reject some data, such as lone surrogates. */
export function encodeJob(job: RuntimeJob): JsonObject {
  return { text: JSON.stringify(job) };
}

/** Reverses `encodeJob`. */
export function decodeJob<Kind extends RuntimeJob['kind']>(
  payload: JsonObject,
): Extract<RuntimeJob, { kind: Kind }> {
  return JSON.parse(payload['text'] as string) as Extract<RuntimeJob, { kind: Kind }>;
}

/** Limits a time to the end of the year 9999. */
export function limitedTime(time: Date): Date {
  return time.getTime() <= LATEST ? time : new Date(LATEST);
}

/** Returns the key that cancels the expiry of an instance. */
export function expiryKey(instanceId: number): string {
  return `process-expiry:${instanceId}`;
}

/** Returns a key of the work of a job, which stays the same when the job is parked and queued again. */
export function runKeyOf({ id, payload }: { id: number; payload: JsonObject }): string {
  return typeof payload['runKey'] === 'string' ? payload['runKey'] : `process-job:${id}`;
}

/** Returns the key of the run that a stopped workflow has begun; null for other work. */
export function stoppedRunOf({ kind, payload }: ParkedJob): string | null {
  return kind === 'WORKFLOW' && typeof payload['runKey'] === 'string' ? payload['runKey'] : null;
}

/** Returns the payload of new work. Work that equals the retried work keeps the key of its run. */
export function withRunKeyOf(
  { kind, payload }: { kind: string; payload: JsonObject },
  retried: ParkedJob | undefined,
): JsonObject {
  return retried?.kind === kind && retried.payload['text'] === payload['text'] ? retried.payload : payload;
}

/** Whether background work still matters after its instance has ended: no token waits for it. */
export function outlives(
  { kind, payload }: Pick<ParkedJob, 'kind' | 'payload'>,
  end: InstanceStatus,
): boolean {
  switch (ENDED_BY[kind as RuntimeJob['kind']]) {
    case 'nothing':
      return true;
    case 'call':
      return end === 'FINISHED' && !decodeJob<'CALL'>(payload).waits;
    default:
      return false;
  }
}

/**
 * Returns a key of stopped work: a piece of background work, or else the place where a caller's request stopped. Messages are no part of
 * it, because different work may fail with the same message, and the same work with different ones.
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
