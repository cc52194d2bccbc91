import type { JsonValue } from '../../../common/json.js';
import { modelProblem } from '../model/data-model.js';
import {
  OVER_THE_SEQUENCE,
  type NodeContext,
  type NodeExecutor,
  type NodeOutcome,
} from '../model/node-executor.js';
import type { RunnableNode } from '../model/workflow.types.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';

/** Takes the input of the workflow, as its input model says: the data of the run to begin with. */
export class StartExecutor implements NodeExecutor {
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
