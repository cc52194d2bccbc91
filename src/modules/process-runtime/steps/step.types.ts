import type { EntityManager } from 'typeorm';
import type { Job } from '../../jobs/model/job-queue.types.js';
import type { EngineCommand, InstanceState, StepResult } from '../engine/state/engine.types.js';
import type { EventOrigin } from '../storage/events.repository.js';
import type { ParkedJob } from '../storage/instance-content.types.js';
import type { InstanceRow } from '../storage/instance.row.js';
import type { LockTime } from '../storage/instances.repository.js';
import type { TokenRow } from '../storage/token.row.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';

/** An instance that a transaction has locked. */
export interface LockedInstance {
  row: InstanceRow;
  locked: LockTime;
  /** The definition of the instance. Throws what begins the step anew where the definition has to be loaded first. */
  definition(): RunnableDefinition;
  /** Reads the live tokens, once. */
  load(): Promise<LoadedInstance>;
}

/** An instance that a transaction has locked and read. */
export interface LoadedInstance {
  row: InstanceRow;
  state: InstanceState;
  /** Live tokens by id. */
  tokens: ReadonlyMap<number, TokenRow>;
  definition: RunnableDefinition;
  locked: LockTime;
}

/** A step that was made and written. */
export interface StepOutcome {
  before: LoadedInstance;
  result: StepResult;
  now: Date;
}

/** A step to be made. */
export interface PlannedStep<Answer> {
  command: EngineCommand;
  /** Called with what the engine made, just before it is written: what is stored in its place. */
  made?(result: StepResult): StepResult;
  /** Called when everything is written, still in the transaction. */
  after(outcome: StepOutcome, manager: EntityManager): Answer | Promise<Answer>;
}

/** No step, and nothing written but what the decision wrote; `isNews` where that is something of which others have to be told. */
export interface NoStep<Answer> {
  answer: Answer;
  isNews?: true;
}

/** What a plan comes to. */
export type Decision<Answer> = PlannedStep<Answer> | NoStep<Answer>;

/** An incident that is retried, and its background work. */
export interface RetriedIncident {
  id: number;
  job: ParkedJob;
}

/** What one transaction does to an instance. */
export interface StepPlan<Answer> {
  /** Who acts, by user name; null for the background. */
  actor: string | null;
  /** The background job whose effect this is; it is completed in the transaction. */
  job?: Job;
  /** Whether a caller adds work, which quotas may refuse. */
  addsWork?: true;
  /** The incident that is retried: when the step asks for the very same work, it goes on with the run that was begun. */
  retried?: RetriedIncident;
  /** Called once, with the lock held and before tokens are read: what to do. May throw whatever refuses it. */
  decide(held: LockedInstance, manager: EntityManager): Decision<Answer> | Promise<Decision<Answer>>;
}

/** Each call takes an id that nobody else gets. */
export interface StepIds {
  instance: () => number;
  token: () => number;
  job: () => number;
  wait: () => number;
  incident: () => number;
}

/** An instance as it was before a step; `null` for one that starts. */
export interface StepBase {
  row: InstanceRow;
  isNew: boolean;
  tokens: ReadonlyMap<number, TokenRow>;
  definition: RunnableDefinition;
}

/** What a step is written with. */
export interface WriteContext {
  ids: StepIds;
  now: Date;
  origin: EventOrigin;
  job?: Job | undefined;
  retried?: RetriedIncident | undefined;
}
