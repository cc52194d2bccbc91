import type { WorkflowNode } from '../../packages/model/package.types.js';

/** What matters of an agent node before it runs. */
export type AgentNode = Pick<WorkflowNode, 'id' | 'type' | 'name' | 'aiOptions'>;

/** A workflow of a version or of a build. */
export interface AgentWorkflow {
  name: string;
  file: string;
  nodes: readonly AgentNode[];
}

/** The nodes of workflows that are agents. */
export function agentsOf(
  workflows: readonly AgentWorkflow[],
): { workflow: AgentWorkflow; node: AgentNode }[] {
  return workflows.flatMap((workflow) =>
    workflow.nodes.filter(({ type }) => type === 'CUSTOM_AGENT').map((node) => ({ workflow, node })),
  );
}
