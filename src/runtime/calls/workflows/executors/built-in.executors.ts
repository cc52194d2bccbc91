import { type JsonValue, isJsonObject } from '#engine/json';
import { modelProblem } from '../model/data-model.js';
import {
  FOLLOW_SEQUENCE,
  type NodeContext,
  type NodeExecutor,
  type NodeOutcome,
  type NodeTexts,
} from '../model/node-executor.js';
import type { RunnableNode, WorkflowCondition, WorkflowTarget } from '../model/workflow.types.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';
import { ExpressionError, ExpressionSyntaxError } from '#engine/expressions';
import { deepMerge } from '#engine/paths';

/** Validates the input of the workflow, which is the initial data of the run. */
class StartExecutor implements NodeExecutor {
  readonly type = 'START';
  readonly takesInput = false;

  async execute(_node: RunnableNode, { workflow, data }: NodeContext): Promise<NodeOutcome> {
    const details = await modelProblem(workflow.inputSchema, data);
    if (details !== undefined) {
      const message = 'The input of the workflow does not match its model.';
      throw new WorkflowFailedError('WORKFLOW_INPUT_INVALID', message, { details });
    }
    return { result: data as JsonValue, next: FOLLOW_SEQUENCE };
  }
}

/** Follows the first condition that is true, or else the default. A condition that fails to evaluate fails the node. */
class ConditionExecutor implements NodeExecutor {
  readonly type = 'CONDITION';
  readonly takesInput = false;

  async execute(node: RunnableNode, { texts }: NodeContext): Promise<NodeOutcome> {
    const ordered = node.conditions.toSorted((one, other) => one.order - other.order);
    const chosen = (await firstTrue(ordered, texts)) ?? ordered.find(({ isDefault }) => isDefault);
    if (chosen === undefined) {
      throw new WorkflowFailedError('CONDITION_FAILED', 'No condition is true, and there is no default.');
    }
    return { result: { condition: chosen.id }, next: { kind: 'NODE', id: chosen.nextNodeId } };
  }
}

async function firstTrue(
  conditions: readonly WorkflowCondition[],
  texts: NodeTexts,
): Promise<WorkflowCondition | undefined> {
  for (const condition of conditions.filter(({ isDefault }) => !isDefault)) {
    if (await isTrue(condition, texts)) {
      return condition;
    }
  }
  return undefined;
}

async function isTrue({ id, expression }: WorkflowCondition, texts: NodeTexts): Promise<boolean> {
  try {
    return await texts.test(expression ?? '');
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof ExpressionSyntaxError) {
      const message = `The condition ${id} cannot be evaluated: ${error.message}`;
      throw new WorkflowFailedError('CONDITION_FAILED', message, { details: error.message, cause: error });
    }
    throw error;
  }
}

/** Stores the filled `inputBody` under the `responseKey`, or merges it into the data without one. */
export class DataMappingExecutor implements NodeExecutor {
  readonly type = 'DATA_MAPPING';
  readonly takesInput = true;

  async execute(node: RunnableNode, { data, input }: NodeContext): Promise<NodeOutcome> {
    if (node.responseKey !== null && node.responseKey !== '') {
      return { result: input, next: FOLLOW_SEQUENCE };
    }
    if (!isJsonObject(input)) {
      throw new WorkflowFailedError(
        'NODE_RESULT_INVALID',
        'A mapping without responseKey must produce an object.',
      );
    }
    return { result: input, data: deepMerge(data, input), next: FOLLOW_SEQUENCE };
  }
}

/** Runs another workflow of the build or a library and waits for it. A failure fails this run; a BPMN error ends it. */
class SubworkflowExecutor implements NodeExecutor {
  readonly type = 'SUBWORKFLOW';
  readonly takesInput = true;

  async execute(node: RunnableNode, { input, step, scope }: NodeContext): Promise<NodeOutcome> {
    if (!isJsonObject(input)) {
      throw new WorkflowFailedError('NODE_INPUT_INVALID', 'The input of a subworkflow must be an object.');
    }
    const { output, errorCode } = await scope.subworkflow(targetOf(node), input, `${step}/${node.id}`);
    return { result: output, next: errorCode === null ? FOLLOW_SEQUENCE : { kind: 'END', errorCode } };
  }
}

/** Reads the subworkflow from `payload.workflow`. */
function targetOf({ payload }: RunnableNode): WorkflowTarget {
  const reference = payload?.['workflow'];
  const { appId, resourceName } = isJsonObject(reference) ? reference : {};
  if (typeof resourceName !== 'string') {
    throw new WorkflowFailedError('SUBWORKFLOW_NOT_FOUND', 'The node has no subworkflow.');
  }
  return { appId: typeof appId === 'string' ? appId : null, name: resourceName };
}

/** Ends the run with the filled `outputBody`, or all data without one, validated against the output model. An error code in `payload` ends it with that BPMN error, without validation. */
class EndExecutor implements NodeExecutor {
  readonly type = 'END';
  readonly takesInput = false;

  async execute(
    { outputBody, payload }: RunnableNode,
    { workflow, data, texts }: NodeContext,
  ): Promise<NodeOutcome> {
    const isEverything = outputBody === null || outputBody.trim() === '';
    const result = isEverything ? (data as JsonValue) : await texts.render(outputBody);
    const errorCode = payload?.['errorCode'];
    if (typeof errorCode === 'string') {
      return { result, next: { kind: 'END', errorCode } };
    }
    const details = await modelProblem(workflow.outputSchema, result);
    if (details !== undefined) {
      const message = 'The output of the workflow does not match its model.';
      throw new WorkflowFailedError('WORKFLOW_OUTPUT_INVALID', message, { details });
    }
    return { result, next: { kind: 'END', errorCode: null } };
  }
}

/** Executors of this module. Other modules register the rest because those executors depend on them. */
export const BUILT_IN_EXECUTORS: readonly NodeExecutor[] = [
  new StartExecutor(),
  new ConditionExecutor(),
  new DataMappingExecutor(),
  new SubworkflowExecutor(),
  new EndExecutor(),
];
