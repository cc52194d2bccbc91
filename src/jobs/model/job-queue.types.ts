import type { JsonObject } from '#engine/json';

/** Work that any replica does once, at `availableAt` or soon after. */
export interface NewJob {
  /** Selects the handler. Up to 32 characters. */
  kind: string;
  availableAt: Date;
  /** Input of the handler, up to `maxPayloadBytes` as JSON. Stored in plain text, so it must not hold secrets. */
  payload: JsonObject;
  /** Owning instance, by which `cancel` and `ofInstance` find the job. */
  instanceId?: number;
  /** Process family of the owner, by which `countOfFamily` finds the job. */
  familyId?: number;
  /** Owning token of the instance, by which `cancelOfToken` finds the job. */
  tokenId?: number;
  /** Up to 128 characters. A job is not added while another one with the same key exists. */
  dedupeKey?: string;
  /** 0 to 255. By default derived from the instance id, else from the dedupe key. */
  shard?: number;
}

/** A job that this replica holds while its lease lasts. */
export interface Job {
  id: number;
  shard: number;
  kind: string;
  payload: JsonObject;
  instanceId: number | null;
  tokenId: number | null;
  /** Number of attempts, including this one. */
  attempts: number;
  /** Earlier attempts that failed. */
  failures: number;
  /** Earlier attempts ended by a failure of the service's own database. The remaining ones crashed or lost their lease. */
  interruptions: number;
  /** Fencing token, new with every claim. */
  lease: string;
  /** When the job was first due; the same at every attempt. */
  availableAt: Date;
}

/** A job that this replica has just claimed. */
export interface ClaimedJob extends Job {
  /** Length of the lease in milliseconds. */
  leaseMs: number;
  /** Start of the lease, as `performance.now()`. */
  claimedAt: number;
}

/** What the worker passes to a running job. */
export interface JobContext {
  /** Aborted when the lease is lost or expires, and when the replica stops. Pass it to everything that waits. */
  signal: AbortSignal;
  /**
   * Renews the lease for another `leaseMs` from now. Call it well before the lease expires.
   * @throws LeaseLostError when the job was cancelled or another worker has it
   */
  heartbeat(): Promise<void>;
}

/** Does the work of one kind of job. */
export interface JobHandler {
  readonly kind: string;
  /**
   * Milliseconds within which a run must finish or call `heartbeat`. Kinds above the default run in the `long` lane and are claimed
   * one by one, so that they do not block short jobs.
   * @default `jobLimits.leaseMs`
   */
  readonly leaseMs?: number;
  /**
   * Does the work and stores its effect in one transaction with `JobQueueService.complete`. Work before that transaction may be
   * repeated after a crash. The job is retried after any error except `JobGiveUpError`, which leads to `giveUp` immediately.
   * `JobPutOffError` does not count as an attempt, a failure of the service's own database does not count as a failed one.
   */
  run(job: Job, context: JobContext): Promise<void>;
  /**
   * Handles a job whose attempts are used up or whose `run` threw a JobGiveUpError. Stores the consequences in one transaction with
   * `JobQueueService.complete`. Called again later when it throws. Without this method failed jobs are retried for ever, as
   * schedules must be: an outage must not end them.
   */
  giveUp?(job: Job, error: unknown): Promise<void>;
}

/** Lanes of jobs, each with its own workers. */
export const JOB_LANES = ['short', 'long'] as const;
export type JobLane = (typeof JOB_LANES)[number];
