import { type JsonValue, isJsonObject } from '#engine/json';
import { modelProblem } from '../model/data-model.js';
import {
  OVER_THE_SEQUENCE,
  type NodeContext,
  type NodeExecutor,
  type NodeOutcome,
  type NodeTexts,
} from '../model/node-executor.js';
import type { RunnableNode, WorkflowCondition, WorkflowTarget } from '../model/workflow.types.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';
import { ExpressionError, ExpressionSyntaxError } from '#engine/expressions';
import { deepMerge } from '#engine/paths';

/** Takes the input of the workflow, as its input model says: the data of the run to begin with. */
class StartExecutor implements NodeExecutor {
  readonly type = 'START';
  readonly takesInput = false;

  async execute(_node: RunnableNode, { workflow, data }: NodeContext): Promise<NodeOutcome> {
    const details = await modelProblem(workflow.inputSchema, data);
    if (details !== undefined) {
      const message = 'The input of the workflow is not as its model says.';
      throw new WorkflowFailedError('WORKFLOW_INPUT_INVALID', message, { details });
    }
    return { result: data as JsonValue, next: OVER_THE_SEQUENCE };
  }
}

/** Goes on with the first condition that is true, in their order, or else with the default. An error is never "false". */
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
      const message = `The condition ${id} is neither true nor false: ${error.message}`;
      throw new WorkflowFailedError('CONDITION_FAILED', message, { details: error.message, cause: error });
    }
    throw error;
  }
}

/** Makes new data out of the data of the run: `inputBody`, stored under the `responseKey` or, without one, merged into the data. */
export class DataMappingExecutor implements NodeExecutor {
  readonly type = 'DATA_MAPPING';
  readonly takesInput = true;

  async execute(node: RunnableNode, { data, input }: NodeContext): Promise<NodeOutcome> {
    if (node.responseKey !== null && node.responseKey !== '') {
      return { result: input, next: OVER_THE_SEQUENCE };
    }
    if (!isJsonObject(input)) {
      throw new WorkflowFailedError(
        'NODE_RESULT_INVALID',
        'A mapping without responseKey must make an object.',
      );
    }
    return { result: input, data: deepMerge(data, input), next: OVER_THE_SEQUENCE };
  }
}

/** Runs another workflow of the build or of one of its libraries and waits for it. When it fails, so does this run; a BPMN error that it ends with ends this run, too. */
class SubworkflowExecutor implements NodeExecutor {
  readonly type = 'SUBWORKFLOW';
  readonly takesInput = true;

  async execute(node: RunnableNode, { input, step, scope }: NodeContext): Promise<NodeOutcome> {
    if (!isJsonObject(input)) {
      throw new WorkflowFailedError('NODE_INPUT_INVALID', 'The input of a subworkflow must be an object.');
    }
    const { output, errorCode } = await scope.subworkflow(targetOf(node), input, `${step}/${node.id}`);
    return { result: output, next: errorCode === null ? OVER_THE_SEQUENCE : { kind: 'END', errorCode } };
  }
}

/** `payload.workflow` names it, with its application, once the package was checked. */
function targetOf({ payload }: RunnableNode): WorkflowTarget {
  const reference = payload?.['workflow'];
  const { appId, resourceName } = isJsonObject(reference) ? reference : {};
  if (typeof resourceName !== 'string') {
    throw new WorkflowFailedError('SUBWORKFLOW_NOT_FOUND', 'The node names no subworkflow.');
  }
  return { appId: typeof appId === 'string' ? appId : null, name: resourceName };
}

/** Ends the run: its output is `outputBody` or, without one, all data. Output that is not as its model says, such as mandatory output that is missing, is an error. With an error code in its `payload` it ends the run with that BPMN error, and no model speaks of the output. */
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
      const message = 'The output of the workflow is not as its model says.';
      throw new WorkflowFailedError('WORKFLOW_OUTPUT_INVALID', message, { details });
    }
    return { result, next: { kind: 'END', errorCode: null } };
  }
}

/** The types of nodes that this module runs by itself. Other modules bring the rest, because the executors need those modules. */
export const BUILT_IN_EXECUTORS: readonly NodeExecutor[] = [
  new StartExecutor(),
  new ConditionExecutor(),
  new DataMappingExecutor(),
  new SubworkflowExecutor(),
  new EndExecutor(),
];
