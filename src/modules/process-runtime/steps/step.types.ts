import type { EntityManager } from 'typeorm';
import type { Job } from '../../jobs/model/job-queue.types.js';
import type { EngineCommand, InstanceState, StepResult } from '../engine/state/engine.types.js';
import type { EventOrigin } from '../storage/events.repository.js';
import type { InstanceRow, ParkedJob } from '../storage/instance.row.js';
import type { LockTime } from '../storage/instances.repository.js';
import type { TokenRow } from '../storage/token.row.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';

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

/** What a plan comes to: a step, or no step and an answer. */
export type Todo<Answer> = EngineCommand | { answer: Answer };

/** What one transaction does to an instance. */
export interface StepPlan<Answer> {
  /** Who acts, by user name; null for the background. */
  actor: string | null;
  /** The background job whose effect this is; it is completed in the transaction. */
  job?: Job;
  /** Background work that is retried: when the step asks for the very same, it goes on with the run that was begun. */
  retried?: ParkedJob;
  /** Called with the lock held and before tokens are read. An answer ends it all, with nothing written but what was written here. */
  before?(
    manager: EntityManager,
    row: InstanceRow,
    definition: () => RunnableDefinition,
  ): Promise<{ answer: Answer } | undefined>;
  /** What to do, or an answer that ends it all as one of `before` does. May throw whatever refuses it. */
  command(loaded: LoadedInstance, manager: EntityManager): Todo<Answer> | Promise<Todo<Answer>>;
  /** Called with what the engine made, just before it is written: what is stored in its place. */
  made?(result: StepResult, loaded: LoadedInstance): StepResult;
  /** Called when everything is written, still in the transaction. */
  after(outcome: StepOutcome, manager: EntityManager): Answer | Promise<Answer>;
}

/** Ids reserved for one transaction; it takes the same ones when it is run again. */
export interface StepIds {
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
  retried?: ParkedJob | undefined;
}
