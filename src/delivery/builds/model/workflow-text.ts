import { jsonParts, memberOf, type JsonPart } from '../../../platform/json/json-part.js';
import type { Steps } from '#engine/support';
import type { ResourceReference, WorkflowNode } from '../../packages/model/package.types.js';

/** Elements of the list of workflows, their members, and their nodes. */
const DRAFT_LEVELS = 3;
/** Members of a workflow, and its nodes. */
const WORKFLOW_LEVELS = 2;
const AGENT = 'CUSTOM_AGENT';

/** What matters of an agent node before it runs. */
export type AgentNode = Pick<WorkflowNode, 'id' | 'type' | 'name'> & {
  aiOptions: { mcpServers: ResourceReference[] } | null;
};

/** A workflow of a version or of a build, with its agent nodes alone. */
export interface AgentWorkflow {
  name: string;
  file: string;
  nodes: AgentNode[];
}

/** A checked workflow as it is stored: one can have many megabytes, so only what is needed of it is read. */
export class WorkflowText<Node extends AgentNode> {
  readonly name: string;
  private readonly parts: readonly JsonPart[];

  constructor(private readonly whole: JsonPart) {
    this.name = this.read('name') as string;
    this.parts = memberOf(whole, 'nodes')?.parts ?? [];
  }

  get nodeCount(): number {
    return this.parts.length;
  }

  /** A member other than its nodes; undefined when it has none of this name. */
  read(member: 'name' | 'description' | 'file' | 'inputSchema' | 'outputSchema'): unknown {
    return memberOf(this.whole, member)?.read();
  }

  /**
   * Its nodes in the order of the package.
   * @param saying only nodes that say this text somewhere
   */
  *nodes(saying?: string): Steps<Node[]> {
    const text = Buffer.from(saying === undefined ? '' : JSON.stringify(saying));
    const found: Node[] = [];
    for (const part of this.parts) {
      if (part.includes(text)) {
        found.push(part.read() as Node);
      }
      yield;
    }
    return found;
  }

  /** The workflow with its agent nodes. */
  *agents(): Steps<AgentWorkflow> {
    const nodes: AgentNode[] = [];
    const candidates = yield* this.nodes(AGENT);
    for (const { id, type, name, aiOptions } of candidates) {
      if (type === AGENT) {
        nodes.push({ id, type, name, aiOptions: aiOptions && { mcpServers: aiOptions.mcpServers } });
      }
    }
    return { name: this.name, file: this.read('file') as string, nodes };
  }
}

/** @param json of DraftWorkflow[] */
export function* draftTexts<Node extends AgentNode>(json: Buffer): Steps<WorkflowText<Node>[]> {
  const { parts } = yield* jsonParts(json, DRAFT_LEVELS);
  return parts.map((part) => new WorkflowText<Node>(part));
}

/** @param json of a workflow, as builds hold it */
export function* workflowText(json: Buffer): Steps<WorkflowText<AgentNode>> {
  return new WorkflowText(yield* jsonParts(json, WORKFLOW_LEVELS));
}

/** Agent nodes of workflows; workflows without any are left out. */
export function* agentsOf(workflows: readonly WorkflowText<AgentNode>[]): Steps<AgentWorkflow[]> {
  const found: AgentWorkflow[] = [];
  for (const workflow of workflows) {
    found.push(yield* workflow.agents());
  }
  return found;
}
