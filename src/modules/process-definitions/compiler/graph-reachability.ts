import type { GraphFlow, GraphNode } from '../process-graph.types.js';
import { reachable, reversed } from './reachability.js';

/**
 * From where a token can still come, and from where it can go back; both are asked at run time and answered once here. An
 * activity leads to its boundary events, too.
 */
export class GraphReachability {
  /** Ways within one level. */
  private readonly forwards: number[][];
  private readonly backwards: number[][];
  /** Ways within one level and into embedded subprocesses. */
  private readonly inwards: number[][];

  constructor(
    private readonly nodes: readonly GraphNode[],
    private readonly flows: readonly GraphFlow[],
  ) {
    this.forwards = nodes.map((node) => [
      ...node.outgoing.flatMap((flow) => flows[flow]?.target ?? []),
      ...node.boundaries,
    ]);
    this.backwards = reversed(this.forwards);
    this.inwards = nodes.map((node) => [...(this.forwards[node.index] ?? []), ...node.starts]);
  }

  /** For each incoming flow of a converging inclusive gateway (BPMN 2.0.2, 13.4.3); empty for every other node. */
  reachableFrom(node: GraphNode): number[][] {
    if (node.kind !== 'INCLUSIVE_GATEWAY' || node.incoming.length < 2) {
      return [];
    }
    return node.incoming.map((flow) => {
      const source = this.flows[flow]?.source ?? node.index;
      const found =
        source === node.index
          ? new Set<number>()
          : reachable([source], this.backwards, (at) => at !== node.index);
      found.delete(node.index);
      return sorted(found);
    });
  }

  /** Nodes behind this one from which a back action leads here without crossing one that forbids it (semantics, section 8). */
  backFrom(node: GraphNode): number[] {
    if (!node.actions.some(({ back }) => back !== null)) {
      return [];
    }
    const next = this.inwards[node.index] ?? [];
    return sorted(this.behind(next));
  }

  private behind(next: readonly number[]): Set<number> {
    const seen = new Set<number>();
    const open = [...next];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const node = this.nodes[at];
      if (node !== undefined && !seen.has(at)) {
        seen.add(at);
        // What forbids going back can be stood on, and a subprocess can be entered; only the way on is closed.
        open.push(...(node.canGoBack ? (this.inwards[at] ?? []) : node.starts));
      }
    }
    return seen;
  }
}

function sorted(nodes: ReadonlySet<number>): number[] {
  return [...nodes].toSorted((a, b) => a - b);
}
