/** Directed edges between numbered nodes. */
export type Edges = readonly (readonly number[])[];

/**
 * Every node that can be reached from the given ones, themselves included.
 * @param passes whether a way may go on from a node; the given ones always do
 */
export function reachable(
  from: readonly number[],
  edges: Edges,
  passes = (_node: number) => true,
): Set<number> {
  const seen = new Set(from);
  const open = [...seen];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const next of edges[node] ?? []) {
      if (!seen.has(next)) {
        seen.add(next);
        if (passes(next)) {
          open.push(next);
        }
      }
    }
  }
  return seen;
}

/** The same edges the other way round. */
export function reversed(edges: Edges): number[][] {
  const result: number[][] = edges.map(() => []);
  edges.forEach((targets, source) => targets.forEach((target) => result[target]?.push(source)));
  return result;
}
