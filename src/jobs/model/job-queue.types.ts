import type { JsonObject } from '#engine/json';

/** Work to be done once, at `availableAt` or soon after, by whichever replica is free. */
export interface NewJob {
  /** Names the handler, up to 32 characters. */
  kind: string;
  availableAt: Date;
  /** What the handler needs to know, at most `maxPayloadBytes` as JSON. No secrets: it is stored as it is. */
  payload: JsonObject;
  /** Owner, so that `cancel` and `ofInstance` find the job. */
  instanceId?: number;
  /** What the owner belongs to, so that `countOfFamily` finds the job. */
  familyId?: number;
  /** Owner inside of the instance, so that `cancelOfToken` finds the job. */
  tokenId?: number;
  /** Up to 128 characters. While a job with this key is stored, another one is not added. */
  dedupeKey?: string;
  /** Number from 0 to 255 that keeps rows of one owner together; follows from the owner's id when absent, else from the dedupe key. */
  shard?: number;
}

/** A job that this replica holds until its lease ends. */
export interface Job {
  id: number;
  /** Where it is stored, see `NewJob`. */
  shard: number;
  kind: string;
  payload: JsonObject;
  instanceId: number | null;
  tokenId: number | null;
  /** How often it was begun, this time included. */
  attempts: number;
  /** How many of the earlier attempts failed. */
  failures: number;
  /** How many a failure of our own database ended. The other attempts ended with their process, or lost their lease. */
  interruptions: number;
  /** Proof of holding it: changes with every claim. */
  lease: string;
  /** When it was due, the same at every attempt. */
  availableAt: Date;
}

/** A job that this replica has just taken and begun. */
export interface ClaimedJob extends Job {
  /** How long it is held, milliseconds. */
  leaseMs: number;
  /** From when on, on the clock of `performance.now()`. */
  claimedAt: number;
}

/** What a running job gets from the worker. */
export interface JobContext {
  /** Aborted when the lease was lost or ran out, and when the replica stops. Pass it to everything that waits. */
  signal: AbortSignal;
  /**
   * Extends the lease to its full length from now on. Call it well within `leaseMs`.
   * @throws LeaseLostError when the job was cancelled or another worker has it
   */
  heartbeat(): Promise<void>;
}

/** Does the work of one kind of jobs. */
export interface JobHandler {
  readonly kind: string;
  /**
   * Time for one run until it must be finished or `heartbeat` called. Above `leaseMs` the kind counts as long. Its jobs run
   * in a lane of jobs of their own, claimed one by one. So they do not stand in the way of short ones.
   * @default `leaseMs`
   */
  readonly leaseMs?: number;
  /**
   * Does the work and stores its effect in one transaction with `JobQueueService.complete`. Work before that transaction may be
   * repeated after a crash. Every error leads to another attempt later, except `JobGiveUpError`, which leads to `giveUp` at
   * once, and `JobPutOffError`, which counts as no attempt. A failure of our own database does not count as one of the job.
   */
  run(job: Job, context: JobContext): Promise<void>;
  /**
   * The job failed for good: its attempts are used up, or `run` threw a JobGiveUpError. Stores what shall come of that in one
   * transaction with `JobQueueService.complete`. When it throws, it is called again later. A handler without it is for work
   * that nobody else can do, such as schedules. A fault of the surroundings must not end this work, so its failed jobs are run
   * again, for ever.
   */
  giveUp?(job: Job, error: unknown): Promise<void>;
}

/** Short jobs and long ones have workers of their own. */
export const JOB_LANES = ['short', 'long'] as const;
export type JobLane = (typeof JOB_LANES)[number];
