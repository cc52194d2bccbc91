import { isJsonObject } from '../../../common/json.js';
import {
  OVER_THE_SEQUENCE,
  type NodeContext,
  type NodeExecutor,
  type NodeOutcome,
} from '../model/node-executor.js';
import type { RunnableNode, WorkflowTarget } from '../model/workflow.types.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';

/** Runs another workflow of the build or of one of its libraries and waits for it. When it fails, so does this run; a BPMN error that it ends with ends this run, too. */
export class SubworkflowExecutor implements NodeExecutor {
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
