import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { requestContext } from '../../../common/logging/request-context.js';
import { Database } from '../../../database/database.js';
import { EngineIncident } from '../engine/state/engine.errors.js';
import type { EngineCommand, InstanceState, StepContext, StepResult } from '../engine/state/engine.types.js';
import { step } from '../engine/step.js';
import { DefinitionNotHeldError, ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import { prolonged } from './executed-calls.js';
import { FailedStepError } from './failed-step.error.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import { StepAftermath } from './step-aftermath.js';
import { StepResources } from './step-resources.js';
import { StepWriter, type Written } from './step-writer.js';
import type { LoadedInstance, StepIds, StepPlan } from './step.types.js';
import type { InstanceRow } from '../storage/instance.row.js';
import type { InstanceKey, LockTime } from '../storage/instances.repository.js';
import { RuntimeRows } from '../storage/runtime-rows.js';
import type { TokenRow } from '../storage/token.row.js';

/** What is told once the transaction was committed: it may be repeated, or rolled back. */
interface Done {
  row: InstanceRow;
  written: Written;
  warnings: readonly string[];
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
    private readonly rows: RuntimeRows,
    private readonly writer: StepWriter,
    private readonly definitions: RunnableDefinitionsService,
    private readonly resources: StepResources,
    private readonly aftermath: StepAftermath,
  ) {}

  /**
   * Makes one step of an instance.
   * @throws ProcessInstanceNotFoundError, and whatever the plan throws
   * @throws EngineRefusal when the command does not fit the state
   * @throws FailedStepError when the engine stops with an incident; nothing is stored, and it is not recorded yet
   */
  async run<Answer>(key: InstanceKey, plan: StepPlan<Answer>): Promise<Answer> {
    const attempts: Attempts = {};
    try {
      return await this.resources.withIds((begin) => this.commit(key, plan, begin, attempts));
    } catch (error) {
      if (!(error instanceof DefinitionNotHeldError)) {
        throw error;
      }
      attempts.definition = await this.definitions.byId(error.definitionId);
      return this.resources.withIds((begin) => this.commit(key, plan, begin, attempts));
    }
  }

  private async commit<Answer>(
    key: InstanceKey,
    plan: StepPlan<Answer>,
    begin: () => StepIds,
    attempts: Attempts,
  ): Promise<Answer> {
    let done: Done | undefined;
    const answer = await this.database.write(async (manager) => {
      const ids = begin();
      const { row, locked } = await this.lock(manager, key, attempts);
      const definition = (): RunnableDefinition => this.definitionOf(row, attempts);
      const early = await plan.before?.(manager, row, definition);
      if (early !== undefined) {
        done = { row, written: { hasWork: false, raised: [] }, warnings: [] };
        return early.answer;
      }
      const now = this.resources.now();
      const before = { ...(await this.load(manager, row, definition())), locked };
      const todo = await plan.command(before, manager);
      if ('answer' in todo) {
        done = undefined;
        return todo.answer;
      }
      const result = this.step(before, plan, todo, this.resources.engineContext(now, ids));
      const written = await this.writer.write(manager, { ...before, isNew: false }, result, {
        ids,
        now,
        job: plan.job,
        retried: plan.retried,
        origin: { actor: plan.actor, requestId: requestContext()?.requestId ?? null },
      });
      done = { row, written, warnings: result.warnings };
      return plan.after({ before, result, now }, manager);
    });
    if (done !== undefined) {
      this.told(done);
    }
    return answer;
  }

  /** @throws ProcessInstanceNotFoundError */
  private async lock(
    manager: EntityManager,
    key: InstanceKey,
    attempts: Attempts,
  ): Promise<{ row: InstanceRow; locked: LockTime }> {
    const found = await this.rows.instances.lockTimed(manager, key);
    if (found === null) {
      throw new ProcessInstanceNotFoundError();
    }
    attempts.revBefore ??= found.locked.revBefore;
    return { row: found.row, locked: { ...found.locked, revBefore: attempts.revBefore } };
  }

  private told({ row, written, warnings }: Done): void {
    this.aftermath.changed(row.id, written.hasWork);
    written.raised.forEach((incident) => this.aftermath.stopped(row, incident));
    this.aftermath.warned(row, warnings);
  }

  private step<Answer>(
    before: LoadedInstance,
    plan: StepPlan<Answer>,
    command: EngineCommand,
    context: StepContext,
  ): StepResult {
    try {
      const made = step(before.definition.runtime, before.state, command, context);
      const result = prolonged(made, before, command);
      return plan.made?.(result, before) ?? result;
    } catch (error) {
      throw error instanceof EngineIncident ? new FailedStepError(error, before, command) : error;
    }
  }

  private definitionOf(row: InstanceRow, { definition: given }: Attempts): RunnableDefinition {
    const isGiven = given?.build.id === row.definitionId;
    const definition = isGiven ? given : this.definitions.held(row.definitionId);
    if (definition === undefined) {
      throw new DefinitionNotHeldError(row.definitionId);
    }
    return definition;
  }

  private async load(
    manager: EntityManager,
    row: InstanceRow,
    definition: RunnableDefinition,
  ): Promise<Omit<LoadedInstance, 'locked'>> {
    const tokens = await this.rows.tokens.live(manager, row.id);
    return {
      row,
      definition,
      state: toInstanceState(row, tokens),
      tokens: new Map(tokens.map((token) => [token.state.id, token])),
    };
  }
}

/** An instance as the engine knows it. */
export function toInstanceState(
  { id, uuid, state, seq, parent, content }: InstanceRow,
  tokens: readonly Pick<TokenRow, 'state'>[],
): InstanceState {
  return {
    id,
    uuid,
    state,
    seq,
    data: content.data,
    joins: content.joins,
    returnPoints: content.returnPoints,
    executions: content.executions ?? [],
    pending: content.pending,
    continues: content.continues,
    backCounter: content.backCounter,
    parentUuid: parent?.uuid ?? null,
    tokens: new Map(tokens.map((token) => [token.state.id, token.state])),
  };
}
