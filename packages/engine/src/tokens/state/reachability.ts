import type { GraphFlow, GraphNode } from '../../definitions/model/process-graph.types.js';
import { cached } from '../../support/cached.js';

/** Bit set of node indexes. */
class NodeSet {
  private readonly bits: Uint8Array;

  constructor(size: number) {
    this.bits = new Uint8Array(Math.ceil(size / 8));
  }

  has(node: number): boolean {
    return ((this.bits[node >> 3] ?? 0) & (1 << (node & 7))) !== 0;
  }

  /** Adds a node. Returns whether it is new. */
  add(node: number): boolean {
    const isNew = !this.has(node);
    this.bits[node >> 3] = (this.bits[node >> 3] ?? 0) | (1 << (node & 7));
    return isNew;
  }
}

/**
 * Answers over which flows a token can still arrive, and to which nodes it can go back. Activities also lead to their boundary events.
 * Each answer is computed on first use, in time linear in the size of the graph, and cached as one bit per node. Computing all answers
 * up front would be quadratic, and most are never needed.
 */
export class Reachability {
  private readonly reaching = new Map<number, NodeSet>();
  private readonly returns = new Map<number, NodeSet>();
  private successors: readonly (readonly number[])[] | undefined;
  private sources: readonly (readonly number[])[] | undefined;

  constructor(
    private readonly nodes: readonly GraphNode[],
    private readonly flows: readonly GraphFlow[],
  ) {}

  /** Whether a token on a node can arrive over a flow without first passing the flow's target (BPMN 2.0.2, 13.4.3). */
  canArriveOver(flow: number, from: number): boolean {
    return cached(this.reaching, flow, () => this.nodesBefore(flow)).has(from);
  }

  /** Whether a token can go back to a node without crossing one that forbids it (docs/process-semantics.md, section 8). */
  canReturnTo(node: number, from: number): boolean {
    return cached(this.returns, node, () => this.nodesAfter(node)).has(from);
  }

  private nodesBefore(index: number): NodeSet {
    const found = new NodeSet(this.nodes.length);
    const flow = this.flows[index];
    const open = flow === undefined || flow.source === flow.target ? [] : [flow.source];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (at !== flow?.target && found.add(at)) {
        open.push(...this.predecessorsOf(at));
      }
    }
    return found;
  }

  private nodesAfter(index: number): NodeSet {
    const found = new NodeSet(this.nodes.length);
    const open = [...this.successorsOf(index)];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const node = this.nodes[at];
      if (node !== undefined && found.add(at)) {
        // A token can be on a node that forbids going back, or inside such a subprocess. Only the paths after it are closed.
        open.push(...(node.canGoBack ? this.successorsOf(at) : node.starts));
      }
    }
    return found;
  }

  /** Returns successors within one level and in embedded subprocesses. */
  private successorsOf(index: number): readonly number[] {
    this.successors ??= this.nodes.map((node) => [...this.targetsOf(node), ...node.starts]);
    return this.successors[index] ?? [];
  }

  private targetsOf({ outgoing, boundaries }: GraphNode): number[] {
    return [...outgoing.flatMap((flow) => this.flows[flow]?.target ?? []), ...boundaries];
  }

  /** Returns predecessors within one level. */
  private predecessorsOf(index: number): readonly number[] {
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
