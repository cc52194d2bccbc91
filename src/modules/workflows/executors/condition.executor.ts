import { compileExpression } from '../../../language/expressions/expressions.js';
import { ExpressionError, ExpressionSyntaxError } from '../../../language/expressions/expression.errors.js';
import type { NodeContext, NodeExecutor, NodeOutcome } from '../model/node-executor.js';
import type { RunnableNode, WorkflowCondition } from '../model/workflow.types.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';

/** Goes on with the first condition that is true, in their order, or else with the default. An error is never "false". */
export class ConditionExecutor implements NodeExecutor {
  readonly type = 'CONDITION';
  readonly takesInput = false;

  async execute(node: RunnableNode, { variables }: NodeContext): Promise<NodeOutcome> {
    const ordered = node.conditions.toSorted((one, other) => one.order - other.order);
    const chosen =
      ordered.find((condition) => !condition.isDefault && isTrue(condition, variables)) ??
      ordered.find(({ isDefault }) => isDefault);
    if (chosen === undefined) {
      throw new WorkflowFailedError('CONDITION_FAILED', 'No condition is true, and there is no default.');
    }
    return { result: { condition: chosen.id }, next: { kind: 'NODE', id: chosen.nextNodeId } };
  }
}

function isTrue(
  { id, expression }: WorkflowCondition,
  variables: Readonly<Record<string, unknown>>,
): boolean {
  try {
    return compileExpression(expression ?? '').test(variables);
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof ExpressionSyntaxError) {
      const message = `The condition ${id} is neither true nor false: ${error.message}`;
      throw new WorkflowFailedError('CONDITION_FAILED', message, { details: error.message, cause: error });
    }
    throw error;
  }
}
