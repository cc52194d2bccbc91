import { ConditionExecutor } from './executors/condition.executor.js';
import { DataMappingExecutor } from './executors/data-mapping.executor.js';
import { EndExecutor } from './executors/end.executor.js';
import { StartExecutor } from './executors/start.executor.js';
import { SubworkflowExecutor } from './executors/subworkflow.executor.js';
import type { NodeExecutor } from './node-executor.js';
import { WorkflowFailedError } from './workflows.errors.js';

/** Injection token of the executors that the service runs workflows with. */
export const NODE_EXECUTORS = Symbol('NODE_EXECUTORS');

/** The types of nodes that this release runs, one class each. The one place to add one. */
export const BUILT_IN_EXECUTORS: readonly NodeExecutor[] = [
  new StartExecutor(),
  new ConditionExecutor(),
  new DataMappingExecutor(),
  new SubworkflowExecutor(),
  new EndExecutor(),
];

/**
 * The executor of a type.
 * @throws WorkflowFailedError when this release does not run nodes of the type
 */
export function executorOf(executors: readonly NodeExecutor[], type: string): NodeExecutor {
  const executor = executors.find((candidate) => candidate.type === type);
  if (executor === undefined) {
    throw new WorkflowFailedError(
      'NODE_TYPE_NOT_SUPPORTED',
      `This release does not run nodes of type ${type}.`,
    );
  }
  return executor;
}
