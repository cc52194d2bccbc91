import { ExpressionError, ExpressionSyntaxError } from '../../../language/expressions/expression.errors.js';
import type { NodeContext, NodeExecutor, NodeOutcome, NodeTexts } from '../model/node-executor.js';
import type { RunnableNode, WorkflowCondition } from '../model/workflow.types.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';

/** Goes on with the first condition that is true, in their order, or else with the default. An error is never "false". */
export class ConditionExecutor implements NodeExecutor {
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
