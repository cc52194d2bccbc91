import { nameKey } from '../../common/validation/resource-name.js';
import type { DefinitionIds, PackageWorkflow, ResourceReference, WorkflowNode } from './package.types.js';

/**
 * Puts definition ids into the references of checked workflows to systems and workflows of their own application, as the
 * contract shows them. A reference whose name has no id stays as it is.
 */
export function withDefinitionIds(
  workflow: PackageWorkflow,
  appId: string,
  ids: DefinitionIds,
): PackageWorkflow {
  const identified = (reference: ResourceReference, kind: keyof DefinitionIds): ResourceReference =>
    reference.appId === appId && (reference.resourceDefinitionId ?? null) === null
      ? { ...reference, resourceDefinitionId: ids[kind].get(nameKey(reference.resourceName ?? '')) ?? null }
      : reference;
  return { ...workflow, nodes: workflow.nodes.map((node) => nodeWithIds(node, identified)) };
}

function nodeWithIds(
  node: WorkflowNode,
  identified: (reference: ResourceReference, kind: keyof DefinitionIds) => ResourceReference,
): WorkflowNode {
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
