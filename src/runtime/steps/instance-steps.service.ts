import { Injectable } from '@nestjs/common';
import { runInSlice, yieldEventLoop } from '#engine/support';
import { requestContext } from '../../platform/observability/logging/request-context.js';
import { inSpan } from '../../platform/observability/tracing/spans.js';
import { Database } from '../../store/database.js';
import type { SharedTransaction } from '../../store/groups/shared-transaction.js';
import { afterCommit } from '../../store/groups/write-progress.js';
import { EngineIncident, type EngineCommand, type StepResult, step } from '#engine/tokens';
import { DefinitionNotCachedError, ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import {
  RunnableDefinitionsService,
  type RunnableDefinition,
} from '../definitions/runnable-definitions.service.js';
import { withExtendedExecution, toInstanceState } from './instance-status.js';
import { FailedStepError } from './step-failures.js';
import { StepNotices, describeStepInSpan } from './step-notices.js';
import { StepResources } from './step-resources.js';
import { StepWriter } from './step-writer.js';
import type { LoadedInstance, LockedInstance, MadeStep, StepCause } from './step.types.js';
import type { InstanceRow } from '../storage/process-instance.entity.js';
import { type InstanceKey, Instances, type LockedRow } from '../storage/instances.repository.js';
import { ShardGroups, shardOf, shardOfUuid } from '../../store/shards.js';
import { Tokens } from '../storage/tokens.repository.js';

/** State that the attempts of one transaction share. */
interface Attempts {
  /** Revision of the instance before the first attempt waited for other transactions. */
  revBefore?: number;
  /** Loaded for this transaction. The cache may have dropped it since. */
  definition?: RunnableDefinition;
}

/**
 * Steps of process instances (docs/process-semantics.md, section 4). `transact` locks the instance and runs the caller's work, which
 * decides what to do and makes the step: `load` reads the live tokens, `run` lets the engine continue to the next wait states, `write` stores
 * the result. Concurrent steps of one instance wait for the lock and then see what the earlier step wrote.
 */
@Injectable()
export class InstanceStepsService {
  constructor(
    private readonly database: Database,
    private readonly writer: StepWriter,
    private readonly definitions: RunnableDefinitionsService,
    private readonly resources: StepResources,
    private readonly notices: StepNotices,
    private readonly groups: ShardGroups,
  ) {}

  /**
   * Locks an instance and runs work in the transaction of the lock. Retries may run the work more than once.
   * @throws ProcessInstanceNotFoundError, and what the work throws; nothing is stored then
   */
  transact<Answer>(key: InstanceKey, work: (held: LockedInstance) => Promise<Answer>): Promise<Answer> {
    return inSpan('process step', {}, async () => {
      const attempts: Attempts = {};
      const loadDefinition = async (error: unknown): Promise<boolean> => {
        if (!(error instanceof DefinitionNotCachedError)) {
          return false;
        }
        attempts.definition = await this.definitions.byId(error.definitionId);
        return true;
      };
      const commit = (): Promise<Answer> =>
        this.database.writeTogether(async (transaction) => work(await this.lock(transaction, key, attempts)));
      // Before the transaction, because others wait for its locks.
      await yieldEventLoop();
      return this.resources.withIds(commit, loadDefinition);
    });
  }

  /** Makes a whole step of an instance that the transaction has locked. @throws as `run` and `write` */
  async make(held: LockedInstance, command: EngineCommand, cause: StepCause): Promise<MadeStep> {
    const made = this.run(await this.load(held), command);
    await this.write(made, cause);
    return made;
  }

  /** Reads the live tokens. */
  async load({ transaction, row, locked, ...held }: LockedInstance): Promise<LoadedInstance> {
    const definition = held.requireCachedDefinition();
    const tokens = await Tokens.live(transaction, row.id);
    return {
      transaction,
      row,
      locked,
      definition,
      state: toInstanceState(row, tokens),
      tokens: new Map(tokens.map((token) => [token.state.id, token])),
    };
  }

  /**
   * Lets the engine carry out a command in memory.
   * @throws EngineRefusal when the command does not fit the state
   * @throws FailedStepError when the engine stops with an incident, which is not recorded yet
   */
  run(before: LoadedInstance, command: EngineCommand): MadeStep {
    const now = this.resources.now();
    describeStepInSpan(before.row, command.kind);
    return before.transaction.computeInGroup(() =>
      runInSlice(() => ({ before, command, now, result: this.result(before, command, now) })),
    );
  }

  /** Stores a step. @throws FailedStepError when the process family would exceed its limits */
  async write({ before, command, result, now }: MadeStep, cause: StepCause): Promise<void> {
    const { transaction, row } = before;
    const { actor, job, retried } = cause;
    const origin = { actor, requestId: requestContext()?.requestId ?? null };
    const { takeId } = this.resources;
    if (this.writer.isAlone(row, result)) {
      transaction.requireOwnTransaction();
    }
    const raised = await this.writer
      .write({ ...before, isNew: false, result, takeId, now, job, retried, origin })
      .catch((error: unknown) => {
        throw toStepError(error, before, command);
      });
    afterCommit(transaction, () => {
      this.resources.chargeGrowth(row, row.content.data, result.instance.data);
      this.notices.reportStep(row, raised, result.warnings);
    });
  }

  /** Prepares `requireWorkQuota`, before the transaction. */
  refreshQuotas(): Promise<void> {
    return this.resources.refreshQuotas();
  }

  /** @throws QuotaExceededError when a caller may add no work to the instance */
  requireWorkQuota({ row }: LockedInstance): void {
    this.resources.requireWorkQuota(row);
  }

  /** Notifies readers after the commit that the instance has changed without a step. */
  noteChange({ transaction, row }: Pick<LockedInstance, 'transaction' | 'row'>): void {
    afterCommit(transaction, () => this.notices.reportStep(row, [], []));
  }

  private async lock(
    transaction: SharedTransaction,
    key: InstanceKey,
    attempts: Attempts,
  ): Promise<LockedInstance> {
    const found = await this.lockRow(transaction, key, attempts);
    const { row } = found;
    describeStepInSpan(row, undefined);
    const locked = { ...found.locked, revBefore: attempts.revBefore ?? found.locked.revBefore };
    return { transaction, row, locked, requireCachedDefinition: () => this.cachedDefinition(row, attempts) };
  }

  private async lockRow(
    transaction: SharedTransaction,
    key: InstanceKey,
    attempts: Attempts,
  ): Promise<LockedRow> {
    // Before the first statement: the transaction of a group touches its own shards only.
    transaction.requireShardGroup(
      this.groups.nameOf('uuid' in key ? shardOfUuid(key.uuid) : shardOf(key.id)),
    );
    const found = await Instances.lockTimed(transaction, key);
    if (found === null) {
      throw new ProcessInstanceNotFoundError();
    }
    attempts.revBefore ??= found.locked.revBefore;
    const hasWaited = await transaction.holdInGroup(`instance ${found.row.id}`);
    return (hasWaited ? await Instances.lockTimed(transaction, key) : null) ?? found;
  }

  /** @throws DefinitionNotCachedError */
  private cachedDefinition(row: InstanceRow, { definition: given }: Attempts): RunnableDefinition {
    const definition = given?.build.id === row.definitionId ? given : this.definitions.held(row.definitionId);
    if (definition === undefined) {
      throw new DefinitionNotCachedError(row.definitionId);
    }
    return definition;
  }

  private result(before: LoadedInstance, command: EngineCommand, now: Date): StepResult {
    try {
      if (command.kind !== 'END') {
        before.definition.requireUndamaged();
      }
      const context = this.resources.engineContext(now);
      return withExtendedExecution(
        step(before.definition.runtime, before.state, command, context),
        before,
        command,
      );
    } catch (error) {
      throw toStepError(error, before, command);
    }
  }
}

/** Returns an incident as a `FailedStepError`, and other errors unchanged. */
function toStepError(error: unknown, before: LoadedInstance, command: EngineCommand): unknown {
  return error instanceof EngineIncident ? new FailedStepError(error, before, command) : error;
}
