import { jsonParts, memberOf, type JsonPart } from '../../../platform/json/json-part.js';
import type { YieldingWork } from '#engine/support';
import type { ResourceReference, WorkflowNode } from '../../packages/model/package.types.js';

/** Levels of JSON to parse in a list of workflows: its elements, their members, and their nodes. */
const DRAFT_LEVELS = 3;
/** Levels of JSON to parse in a workflow: its members and its nodes. */
const WORKFLOW_LEVELS = 2;
const AGENT = 'CUSTOM_AGENT';

/** The parts of an agent node that matter before it runs. */
export type AgentNode = Pick<WorkflowNode, 'id' | 'type' | 'name'> & {
  aiOptions: { mcpServers: ResourceReference[] } | null;
};

/** A workflow of a version or build, reduced to its agent nodes. */
export interface AgentWorkflow {
  name: string;
  file: string;
  nodes: AgentNode[];
}

/** A checked workflow as it is stored. It can have many megabytes, so parts are read only on demand. */
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

  /** Reads a member other than `nodes`; undefined when the workflow lacks it. */
  read(member: 'name' | 'description' | 'file' | 'inputSchema' | 'outputSchema'): unknown {
    return memberOf(this.whole, member)?.read();
  }

  /**
   * Reads its nodes in the order of the package.
   * @param containing reads only nodes that contain this text
   */
  *nodes(containing?: string): YieldingWork<Node[]> {
    const text = Buffer.from(containing === undefined ? '' : JSON.stringify(containing));
    const found: Node[] = [];
    for (const part of this.parts) {
      if (part.includes(text)) {
        found.push(part.read() as Node);
      }
      yield;
    }
    return found;
  }

  /** Reads the workflow with only its agent nodes. */
  *agents(): YieldingWork<AgentWorkflow> {
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

/** Reads workflows from the JSON of a DraftWorkflow[]. */
export function* draftTexts<Node extends AgentNode>(json: Buffer): YieldingWork<WorkflowText<Node>[]> {
  const { parts } = yield* jsonParts(json, DRAFT_LEVELS);
  return parts.map((part) => new WorkflowText<Node>(part));
}

/** Reads a workflow from its JSON as stored in a build. */
export function* workflowText(json: Buffer): YieldingWork<WorkflowText<AgentNode>> {
  return new WorkflowText(yield* jsonParts(json, WORKFLOW_LEVELS));
}

/** Returns workflows reduced to their agent nodes. */
export function* agentsOf(workflows: readonly WorkflowText<AgentNode>[]): YieldingWork<AgentWorkflow[]> {
  const found: AgentWorkflow[] = [];
  for (const workflow of workflows) {
    found.push(yield* workflow.agents());
  }
  return found;
}
