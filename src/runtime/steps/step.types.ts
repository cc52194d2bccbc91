import type { StepTransaction } from '../../store/groups/step-transaction.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import type { EngineCommand, InstanceState, StepResult } from '#engine/tokens';
import type { EventOrigin } from '../storage/events.repository.js';
import type { IncidentRow } from '../storage/incidents.repository.js';
import type { ParkedJob, InstanceRow } from '../storage/process-instance.entity.js';
import type { LockedRow } from '../storage/instances.repository.js';
import type { TokenRow } from '../storage/process-token.entity.js';
import type { RunnableDefinition } from '../definitions/runnable-definitions.service.js';

export interface LockedInstance extends LockedRow {
  readonly transaction: StepTransaction;
  /** The definition of the instance. Throws what begins the step anew where the definition has to be loaded first. */
  definition(): RunnableDefinition;
  /** Reads the live tokens, once. */
  load(): Promise<LoadedInstance>;
}

/** An instance that a transaction has locked and read. */
export interface LoadedInstance extends LockedRow {
  state: InstanceState;
  /** Live tokens by id. */
  tokens: ReadonlyMap<number, TokenRow>;
  definition: RunnableDefinition;
}

export interface StepOutcome {
  before: LoadedInstance;
  result: StepResult;
  now: Date;
}

export interface PlannedStep<Answer> {
  command: EngineCommand;
  /** Called with what the engine made, just before it is written: what is stored in its place. */
  made?(result: StepResult): StepResult;
  /** Called when everything is written, still in the transaction; without it nothing is answered. */
  after?(outcome: StepOutcome): Answer | Promise<Answer>;
}

/** No step, and nothing written but what the decision wrote; `isNews` where that is something of which others have to be told. */
export interface NoStep<Answer> {
  answer: Answer;
  isNews?: true;
}

export type Decision<Answer> = PlannedStep<Answer> | NoStep<Answer>;

export type RetriedIncident = Pick<IncidentRow, 'id'> & { job: ParkedJob };

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
  decide(held: LockedInstance): Decision<Answer> | Promise<Decision<Answer>>;
}

/** Kinds of rows to which a step gives ids. */
export const STEP_IDS = [
  'process-instance',
  'process-token',
  'job',
  'process-wait',
  'process-incident',
] as const;
/** Takes an id that nobody else gets. */
export type TakeId = (kind: (typeof STEP_IDS)[number]) => number;

/** An instance as it was before a step; `null` for one that starts. */
export interface StepBase {
  row: InstanceRow;
  isNew: boolean;
  tokens: ReadonlyMap<number, TokenRow>;
  definition: RunnableDefinition;
}

/** A step that was made, as a transaction writes it. */
export interface StepWriting extends StepBase {
  transaction: StepTransaction;
  result: StepResult;
  takeId: TakeId;
  now: Date;
  origin: EventOrigin;
  job?: Job | undefined;
  retried?: RetriedIncident | undefined;
}
