import { nameKey } from '../../../common/validation/resource-name.js';
import type { DefinitionIds, ResourceReference, WorkflowNode } from '../model/package.types.js';

/** What a node needs to have to refer to systems and workflows. */
export type ReferringNode = Pick<WorkflowNode, 'type'> &
  Partial<Pick<WorkflowNode, 'payload' | 'subWorkflowResourceDefinitionId'>> & {
    aiOptions: { mcpServers: ResourceReference[] } | null;
  };

/**
 * Puts definition ids into the references of checked workflows to systems and workflows of their own application, as the
 * contract shows them. A reference whose name has no id stays as it is.
 */
export function withDefinitionIds<Node extends ReferringNode, Workflow extends { nodes: Node[] }>(
  workflow: Workflow & { nodes: Node[] },
  appId: string,
  ids: DefinitionIds,
): Workflow {
  const identified = (reference: ResourceReference, kind: keyof DefinitionIds): ResourceReference =>
    reference.appId === appId && (reference.resourceDefinitionId ?? null) === null
      ? { ...reference, resourceDefinitionId: ids[kind].get(nameKey(reference.resourceName ?? '')) ?? null }
      : reference;
  return { ...workflow, nodes: workflow.nodes.map((node) => nodeWithIds(node, identified)) };
}

function nodeWithIds<Node extends ReferringNode>(
  node: Node,
  identified: (reference: ResourceReference, kind: keyof DefinitionIds) => ResourceReference,
): Node {
  const { aiOptions, payload } = node;
  switch (node.type) {
    case 'CUSTOM_AGENT':
      return aiOptions === null
        ? node
        : {
            ...node,
            aiOptions: {
              ...aiOptions,
              mcpServers: aiOptions.mcpServers.map((server) => identified(server, 'systems')),
            },
          };
    case 'REST_ENDPOINT':
    case 'DATA_SOURCE':
      return {
        ...node,
        payload: { ...payload, system: identified(payload?.['system'] as ResourceReference, 'systems') },
      };
    case 'SUBWORKFLOW': {
      const workflow = identified(payload?.['workflow'] as ResourceReference, 'workflows');
      return {
        ...node,
        payload: { ...payload, workflow },
        subWorkflowResourceDefinitionId: workflow.resourceDefinitionId ?? null,
      };
    }
    default:
      return node;
  }
}
