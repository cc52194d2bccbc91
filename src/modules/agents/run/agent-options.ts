import { z } from 'zod';
import type { JsonObject } from '../../../common/json.js';
import type { RunnableNode } from '../../workflows/model/workflow.types.js';
import { WorkflowFailedError } from '../../workflows/model/workflows.errors.js';
import type { McpServerReference } from '../resolution/resolution.types.js';

/** What the author of a node says of its agent (docs/contract.md, section 5, `aiOptions`). */
export interface AgentOptions {
  readonly operationPrompt: string;
  /** JSON Schema (2020-12) of the answer. */
  readonly answerSchema: JsonObject;
  readonly mcpServers: readonly McpServerReference[];
}

const named = z.string().nullable().optional();
const aiOptions = z.object({
  operationPrompt: z.string().min(1),
  exampleOutputJsonSchema: z.record(z.string(), z.unknown()),
  mcpServers: z.array(z.object({ appId: named, resourceDefinitionId: named, resourceName: named })),
});

/** @throws WorkflowFailedError when the node has none; packages are checked before, so this is a fault of the stored node */
export function agentOptionsOf(node: RunnableNode): AgentOptions {
  const { success, data } = aiOptions.safeParse(node.aiOptions);
  if (!success) {
    throw new WorkflowFailedError('WORKFLOW_INVALID', 'A node of type CUSTOM_AGENT needs "aiOptions".');
  }
  const { operationPrompt, exampleOutputJsonSchema: answerSchema, mcpServers } = data;
  return { operationPrompt, answerSchema, mcpServers };
}
