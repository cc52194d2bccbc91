import type { SharedTransaction } from '../../store/groups/shared-transaction.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import type { EngineCommand, InstanceState, StepResult } from '#engine/tokens';
import type { EventOrigin } from '../storage/events.repository.js';
import type { IncidentRow } from '../storage/incidents.repository.js';
import type { ParkedJob, InstanceRow } from '../storage/process-instance.entity.js';
import type { LockedRow } from '../storage/instances.repository.js';
import type { TokenRow } from '../storage/process-token.entity.js';
import type { RunnableDefinition } from '../definitions/runnable-definitions.service.js';

/** An instance that a transaction has locked. */
export interface LockedInstance extends LockedRow {
  readonly transaction: SharedTransaction;
  /**
   * Returns the definition of the instance.
   * @throws DefinitionNotCachedError when it is not in memory: `transact` then loads it and runs the work again from its start
   */
  requireCachedDefinition(): RunnableDefinition;
}

/** An instance that a transaction has locked and read. */
export interface LoadedInstance extends LockedRow {
  readonly transaction: SharedTransaction;
  state: InstanceState;
  /** Live tokens by id. */
  tokens: ReadonlyMap<number, TokenRow>;
  definition: RunnableDefinition;
}

/** A step that the engine has made in memory and that is not stored yet. */
export interface MadeStep {
  before: LoadedInstance;
  command: EngineCommand;
  result: StepResult;
  now: Date;
}

export type RetriedIncident = Pick<IncidentRow, 'id'> & { job: ParkedJob };

/** Why a step is made. */
export interface StepCause {
  /** User name; null for the background. */
  actor: string | null;
  /** The background job whose effect this is; the transaction completes it. */
  job?: Job;
  /** The incident that is retried. A step that requests the very same work continues the run that was begun. */
  retried?: RetriedIncident;
}

/** Kinds of rows to which a step gives ids. */
export const STEP_IDS = [
  'process-instance',
  'process-token',
  'job',
  'process-wait',
  'process-incident',
] as const;
/** Takes a unique id. */
export type TakeId = (kind: (typeof STEP_IDS)[number]) => number;

/** An instance as it was before a step. */
export interface StepBase {
  row: InstanceRow;
  isNew: boolean;
  tokens: ReadonlyMap<number, TokenRow>;
  definition: RunnableDefinition;
}

/** What `StepWriter` writes. */
export interface StepWriting extends StepBase {
  transaction: SharedTransaction;
  result: StepResult;
  takeId: TakeId;
  now: Date;
  origin: EventOrigin;
  job?: Job | undefined;
  retried?: RetriedIncident | undefined;
}
