import { Injectable } from '@nestjs/common';
import { ConditionExecutor } from '../executors/condition.executor.js';
import { DataMappingExecutor } from '../executors/data-mapping.executor.js';
import { EndExecutor } from '../executors/end.executor.js';
import { StartExecutor } from '../executors/start.executor.js';
import { SubworkflowExecutor } from '../executors/subworkflow.executor.js';
import type { NodeExecutor } from '../model/node-executor.js';

/** The types of nodes that this module runs by itself, one class each. */
export const BUILT_IN_EXECUTORS: readonly NodeExecutor[] = [
  new StartExecutor(),
  new ConditionExecutor(),
  new DataMappingExecutor(),
  new SubworkflowExecutor(),
  new EndExecutor(),
];

/** The types of nodes that this release runs: its own, and those that other modules register while they start. */
@Injectable()
export class NodeExecutorsService {
  private readonly registered: NodeExecutor[] = [...BUILT_IN_EXECUTORS];

  /** One for each type. */
  list(): readonly NodeExecutor[] {
    return this.registered;
  }

  /**
   * Adds a type. Call it in `onModuleInit`, and list the type in EXECUTED_NODE_TYPES.
   * @throws Error when the type is there already
   */
  register(executor: NodeExecutor): void {
    if (this.registered.some(({ type }) => type === executor.type)) {
      throw new Error(`Nodes of type ${executor.type} have an executor already.`);
    }
    this.registered.push(executor);
  }
}
