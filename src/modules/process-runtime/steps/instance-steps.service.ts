import { Injectable } from '@nestjs/common';
import { inThisTurn, turnWithRoom } from '../../../common/turns.js';
import type { JsonObject } from '../../../common/json.js';
import { requestContext } from '../../../common/logging/request-context.js';
import { inSpan } from '../../../common/tracing/spans.js';
import { Database } from '../../../database/database.js';
import { workInGroup } from '../../../database/groups/write-group.js';
import { EngineIncident } from '../engine/state/engine.errors.js';
import type { EngineCommand, StepContext, StepResult } from '../engine/state/engine.types.js';
import { step } from '../engine/step.js';
import { DefinitionNotHeldError } from '../model/process-runtime.errors.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import { prolonged } from './executed-calls.js';
import { FailedStepError } from './failed-step.error.js';
import { InstanceLocks, type Attempts } from './instance-locks.js';
import { StepNotices } from './step-notices.js';
import { StepResources } from './step-resources.js';
import { tellStep } from './step-spans.js';
import { StepWriter, type Written } from './step-writer.js';
import type { LoadedInstance, PlannedStep, StepPlan } from './step.types.js';
import type { InstanceRow } from '../storage/instance.row.js';
import type { InstanceKey } from '../storage/instances.repository.js';

/** What is told once the transaction was committed: it may be repeated, or rolled back. */
interface Done {
  row: InstanceRow;
  written: Written;
  warnings: readonly string[];
  /** Data of the instance afterwards. */
  data: JsonObject;
}

const NOTHING_WRITTEN: Written = { hasWork: false, raised: [] };

/**
 * Steps of process instances, each one short transaction: lock the instance, read its live tokens, let the engine go on to the
 * next wait states, write instance, tokens, events and jobs (docs/process-semantics.md, section 4). Whoever comes second waits for the lock
 * and then sees what the first one did.
 */
@Injectable()
export class InstanceStepsService {
  constructor(
    private readonly database: Database,
    private readonly locks: InstanceLocks,
    private readonly writer: StepWriter,
    private readonly definitions: RunnableDefinitionsService,
    private readonly resources: StepResources,
    private readonly notices: StepNotices,
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
      await this.resources.quotas.refresh();
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
    const answer = await this.database.writeTogether(async (manager) => {
      const held = await this.locks.lock(manager, key, attempts);
      const { row } = held;
      const decision = await plan.decide(held, manager);
      tellStep(row, 'command' in decision ? decision.command.kind : undefined);
      if ('answer' in decision) {
        done = decision.isNews && { row, written: NOTHING_WRITTEN, warnings: [], data: row.content.data };
        return decision.answer;
      }
      if (plan.addsWork === true) {
        this.resources.quotas.demandWork(row);
      }
      const now = this.resources.now();
      const before = await held.load();
      const result = workInGroup(manager, () =>
        inThisTurn(() => this.step(before, decision, this.resources.engineContext(now))),
      );
      const origin = { actor: plan.actor, requestId: requestContext()?.requestId ?? null };
      const { job, retried } = plan;
      const context = { ids: this.resources.ids, now, job, retried, origin };
      const written = await this.writer
        .write(manager, { ...before, isNew: false }, result, context)
        .catch(rethrown(before, decision.command));
      done = { row, written, warnings: result.warnings, data: result.instance.data };
      return decision.after({ before, result, now }, manager);
    });
    if (done !== undefined) {
      this.resources.quotas.grown(done.row, done.row.content.data, done.data);
      this.notices.committed(done.row, done.written, done.warnings);
    }
    return answer;
  }

  private step<Answer>(
    before: LoadedInstance,
    { command, made: changed }: Pick<PlannedStep<Answer>, 'command' | 'made'>,
    context: StepContext,
  ): StepResult {
    try {
      if (command.kind !== 'END') {
        before.definition.demandWhole();
      }
      const made = step(before.definition.runtime, before.state, command, context);
      const result = prolonged(made, before, command);
      return changed?.(result) ?? result;
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
