import type { GraphFlow, GraphNode } from '../../definitions/model/process-graph.types.js';
import { cached } from '../../support/cached.js';

/** Nodes by their index, a bit for each. */
class NodeSet {
  private readonly bits: Uint8Array;

  constructor(size: number) {
    this.bits = new Uint8Array(Math.ceil(size / 8));
  }

  has(node: number): boolean {
    return ((this.bits[node >> 3] ?? 0) & (1 << (node & 7))) !== 0;
  }

  /** @returns whether it was not there before */
  add(node: number): boolean {
    const isNew = !this.has(node);
    this.bits[node >> 3] = (this.bits[node >> 3] ?? 0) | (1 << (node & 7));
    return isNew;
  }
}

/**
 * From where a token can still come, and from where it can go back. An activity leads to its boundary events, too. Each answer
 * is worked out when it is first asked for, in time linear in the size of the graph. It is kept as one bit for each node. All
 * answers together would be quadratic, and most are never asked for.
 */
export class Reachability {
  private readonly comings = new Map<number, NodeSet>();
  private readonly returns = new Map<number, NodeSet>();
  private ways: readonly (readonly number[])[] | undefined;
  private sources: readonly (readonly number[])[] | undefined;

  constructor(
    private readonly nodes: readonly GraphNode[],
    private readonly flows: readonly GraphFlow[],
  ) {}

  /** Whether a token on a node can come over a flow without passing the node that the flow leads to (BPMN 2.0.2, 13.4.3). */
  canComeOver(flow: number, from: number): boolean {
    return cached(this.comings, flow, () => this.before(flow)).has(from);
  }

  /** Whether a token can be taken back to a node without crossing one that forbids it (docs/process-semantics.md, section 8). */
  canReturnTo(node: number, from: number): boolean {
    return cached(this.returns, node, () => this.behind(node)).has(from);
  }

  private before(index: number): NodeSet {
    const found = new NodeSet(this.nodes.length);
    const flow = this.flows[index];
    const open = flow === undefined || flow.source === flow.target ? [] : [flow.source];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (at !== flow?.target && found.add(at)) {
        open.push(...this.sourcesOf(at));
      }
    }
    return found;
  }

  private behind(index: number): NodeSet {
    const found = new NodeSet(this.nodes.length);
    const open = [...this.waysFrom(index)];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const node = this.nodes[at];
      if (node !== undefined && found.add(at)) {
        // A token can stand on a node that forbids going back, and can enter such a subprocess. Only the way on is closed.
        open.push(...(node.canGoBack ? this.waysFrom(at) : node.starts));
      }
    }
    return found;
  }

  /** Ways within one level and into embedded subprocesses. */
  private waysFrom(index: number): readonly number[] {
    this.ways ??= this.nodes.map((node) => [...this.targetsOf(node), ...node.starts]);
    return this.ways[index] ?? [];
  }

  private targetsOf({ outgoing, boundaries }: GraphNode): number[] {
    return [...outgoing.flatMap((flow) => this.flows[flow]?.target ?? []), ...boundaries];
  }

  /** Ways within one level, against their direction. */
  private sourcesOf(index: number): readonly number[] {
    if (this.sources === undefined) {
      const sources: number[][] = this.nodes.map(() => []);
      this.nodes.forEach((node) =>
        this.targetsOf(node).forEach((target) => sources[target]?.push(node.index)),
      );
      this.sources = sources;
    }
    return this.sources[index] ?? [];
  }
}
