import type { JsonValue } from '../../../common/json.js';
import { modelProblem } from '../model/data-model.js';
import type { NodeContext, NodeExecutor, NodeOutcome } from '../model/node-executor.js';
import type { RunnableNode } from '../model/workflow.types.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';

/** Ends the run: its output is `outputBody` or, without one, all data. Output that is not as its model says, such as mandatory output that is missing, is an error. With an error code in its `payload` it ends the run with that BPMN error, and no model speaks of the output. */
export class EndExecutor implements NodeExecutor {
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
