import { Injectable } from '@nestjs/common';
import { inThisTurn, turnWithRoom } from '#engine/support';
import type { JsonObject } from '#engine/json';
import { requestContext } from '../../platform/observability/logging/request-context.js';
import { inSpan } from '../../platform/observability/tracing/spans.js';
import { Database } from '../../store/database.js';
import type { StepTransaction } from '../../store/groups/step-transaction.js';
import { EngineIncident, type EngineCommand, type StepContext, type StepResult, step } from '#engine/tokens';
import { DefinitionNotHeldError, ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import {
  RunnableDefinitionsService,
  type RunnableDefinition,
} from '../definitions/runnable-definitions.service.js';
import { prolonged, toInstanceState } from './instance-status.js';
import { FailedStepError } from './step-failures.js';
import { StepNotices, tellStep } from './step-notices.js';
import { StepResources } from './step-resources.js';
import { StepWriter } from './step-writer.js';
import type { LoadedInstance, PlannedStep, StepPlan, LockedInstance } from './step.types.js';
import type { InstanceRow } from '../storage/process-instance.entity.js';
import type { IncidentHead } from '../storage/incidents.repository.js';
import { type InstanceKey, Instances, type LockedRow } from '../storage/instances.repository.js';
import { ShardGroups, shardOf, shardOfUuid } from '../../store/shards.js';
import { Tokens } from '../storage/tokens.repository.js';

/** What is told once the transaction was committed: it may be repeated, or rolled back. */
interface Done {
  row: InstanceRow;
  raised: readonly IncidentHead[];
  warnings: readonly string[];
  /** Data of the instance afterwards. */
  data: JsonObject;
}

/** What the attempts of one step know of those before. */
interface Attempts {
  /** Revision of the instance before the first of them waited for anybody. */
  revBefore?: number;
  /** Loaded for this step; by now others may have taken its place among those that are held. */
  definition?: RunnableDefinition;
}

/**
 * Steps of process instances, each one short transaction: lock the instance, read its live tokens, let the engine go on to the
 * next wait states, write instance, tokens, events and jobs (docs/process-semantics.md, section 4). Whoever comes second waits for the lock
 * and then sees what the first one did.
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
   * Makes one step of an instance.
   * @throws ProcessInstanceNotFoundError, and whatever the plan throws
   * @throws QuotaExceededError when it adds work that a quota refuses
   * @throws EngineRefusal when the command does not fit the state
   * @throws FailedStepError when the engine stops with an incident; nothing is stored, and it is not recorded yet
   */
  run<Answer>(key: InstanceKey, plan: StepPlan<Answer>): Promise<Answer> {
    return inSpan('process step', {}, () => this.made(key, plan));
  }

  private async made<Answer>(key: InstanceKey, plan: StepPlan<Answer>): Promise<Answer> {
    const attempts: Attempts = {};
    // In the transaction nothing waits for a turn: others wait for its locks.
    await turnWithRoom();
    if (plan.addsWork === true) {
      await this.resources.refreshQuotas();
    }
    try {
      return await this.resources.withIds(() => this.commit(key, plan, attempts));
    } catch (error) {
      if (!(error instanceof DefinitionNotHeldError)) {
        throw error;
      }
      attempts.definition = await this.definitions.byId(error.definitionId);
      return this.resources.withIds(() => this.commit(key, plan, attempts));
    }
  }

  private async commit<Answer>(
    key: InstanceKey,
    plan: StepPlan<Answer>,
    attempts: Attempts,
  ): Promise<Answer> {
    let done: Done | undefined;
    const answer = await this.database.writeTogether(async (transaction) => {
      const held = await this.lock(transaction, key, attempts);
      const { row } = held;
      const decision = await plan.decide(held);
      tellStep(row, 'command' in decision ? decision.command.kind : undefined);
      if ('answer' in decision) {
        done = decision.isNews && { row, raised: [], warnings: [], data: row.content.data };
        return decision.answer;
      }
      if (plan.addsWork === true) {
        this.resources.demandWork(row);
      }
      const now = this.resources.now();
      const before = await held.load();
      const result = transaction.compute(() =>
        inThisTurn(() => this.step(before, decision, this.resources.engineContext(now))),
      );
      const origin = { actor: plan.actor, requestId: requestContext()?.requestId ?? null };
      const { job, retried } = plan;
      const { takeId } = this.resources;
      const raised = await this.writer
        .write({ ...before, isNew: false, transaction, result, takeId, now, job, retried, origin })
        .catch(rethrown(before, decision.command));
      done = { row, raised, warnings: result.warnings, data: result.instance.data };
      return (await decision.after?.({ before, result, now })) as Answer;
    });
    if (done !== undefined) {
      this.resources.grown(done.row, done.row.content.data, done.data);
      this.notices.committed(done.row, done.raised, done.warnings);
    }
    return answer;
  }

  /** Its tokens are read when somebody asks for them. @throws ProcessInstanceNotFoundError */
  private async lock(
    transaction: StepTransaction,
    key: InstanceKey,
    attempts: Attempts,
  ): Promise<LockedInstance> {
    const found = await this.lockRow(transaction, key, attempts);
    const { row } = found;
    const locked = { ...found.locked, revBefore: attempts.revBefore ?? found.locked.revBefore };
    const definition = (): RunnableDefinition => this.definitionOf(row, attempts);
    const held = { transaction, row, locked, definition };
    let loaded: Promise<LoadedInstance> | undefined;
    return { ...held, load: () => (loaded ??= this.load(held)) };
  }

  private async lockRow(
    transaction: StepTransaction,
    key: InstanceKey,
    attempts: Attempts,
  ): Promise<LockedRow> {
    // Before anything is asked for: the transaction of a group touches its own shards only.
    transaction.join(this.groups.nameOf('uuid' in key ? shardOfUuid(key.uuid) : shardOf(key.id)));
    const found = await Instances.lockTimed(transaction, key);
    if (found === null) {
      throw new ProcessInstanceNotFoundError();
    }
    attempts.revBefore ??= found.locked.revBefore;
    const hasWaited = await transaction.hold(`instance ${found.row.id}`);
    return (hasWaited ? await Instances.lockTimed(transaction, key) : null) ?? found;
  }

  private definitionOf(row: InstanceRow, { definition: given }: Attempts): RunnableDefinition {
    const definition = given?.build.id === row.definitionId ? given : this.definitions.held(row.definitionId);
    if (definition === undefined) {
      throw new DefinitionNotHeldError(row.definitionId);
    }
    return definition;
  }

  private async load({ transaction, row, ...held }: Omit<LockedInstance, 'load'>): Promise<LoadedInstance> {
    const definition = held.definition();
    const tokens = await Tokens.live(transaction, row.id);
    return {
      row,
      locked: held.locked,
      definition,
      state: toInstanceState(row, tokens),
      tokens: new Map(tokens.map((token) => [token.state.id, token])),
    };
  }

  private step<Answer>(before: LoadedInstance, plan: PlannedStep<Answer>, context: StepContext): StepResult {
    const { command } = plan;
    try {
      if (command.kind !== 'END') {
        before.definition.demandWhole();
      }
      const made = step(before.definition.runtime, before.state, command, context);
      const result = prolonged(made, before, command);
      return plan.made?.(result) ?? result;
    } catch (error) {
      return rethrown(before, command)(error);
    }
  }
}

/** Throws an incident with the place where it left its instance. */
function rethrown(before: LoadedInstance, command: EngineCommand): (error: unknown) => never {
  return (error) => {
    throw error instanceof EngineIncident ? new FailedStepError(error, before, command) : error;
  };
}
