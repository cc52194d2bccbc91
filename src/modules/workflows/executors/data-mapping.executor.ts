import { isJsonObject } from '../../../common/json.js';
import { deepMerge } from '../../../language/paths/data-paths.js';
import {
  OVER_THE_SEQUENCE,
  type NodeContext,
  type NodeExecutor,
  type NodeOutcome,
} from '../model/node-executor.js';
import type { RunnableNode } from '../model/workflow.types.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';

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
