import type { Place, PackageProblems } from '../model/package-problems.js';
import type { PackageWorkflow, WorkflowNode } from '../model/package.types.js';
import { requireUniqueNames } from './names.js';

/**
 * Checks how the nodes of a workflow are connected (docs/process-semantics.md, section 13). There is one START, every path leads to an END,
 * and only a CONDITION branches. No node runs twice, so every run ends.
 */
export class WorkflowFlow {
  private readonly nodes = new Map<string, WorkflowNode>();
  private readonly incoming = new Map<string, number>();

  constructor(
    private readonly workflow: PackageWorkflow,
    private readonly problems: PackageProblems,
  ) {
    for (const node of workflow.nodes) {
      this.nodes.set(node.id, node);
    }
  }

  check(): void {
    this.checkNames();
    for (const node of this.workflow.nodes) {
      this.checkSequences(node);
    }
    for (const node of this.workflow.nodes) {
      this.checkDegree(node);
    }
    this.checkStartAndEnd();
    this.checkPaths();
  }

  private at(element: string | null): Place {
    return { file: this.workflow.file, element };
  }

  private checkNames(): void {
    const { file, nodes } = this.workflow;
    const named = nodes.map(({ id, name }) => ({ name, file, element: id }));
    requireUniqueNames('nodes', 'NODE_NAME_NOT_UNIQUE', named, this.problems);
    const sequences = nodes.flatMap((node) => node.outgoingSequences.map(({ id }) => ({ id, at: node.id })));
    const ids = [
      ...nodes.map(({ id }) => ({ name: id, file, element: id })),
      ...sequences.map(({ id, at }) => ({ name: id, file, element: at })),
    ];
    requireUniqueNames('nodes or sequences', 'ID_NOT_UNIQUE', ids, this.problems);
  }

  private checkSequences({ id, outgoingSequences }: WorkflowNode): void {
    for (const sequence of outgoingSequences) {
      if (sequence.sourceNodeId !== id) {
        const message = `Sequence "${sequence.id}" of this node starts at "${sequence.sourceNodeId}"; write "${id}".`;
        this.problems.error('SEQUENCE_SOURCE_MISMATCH', this.at(id), message);
      }
      if (this.nodes.has(sequence.targetNodeId)) {
        this.incoming.set(sequence.targetNodeId, (this.incoming.get(sequence.targetNodeId) ?? 0) + 1);
      } else {
        const hint = this.problems.didYouMean(sequence.targetNodeId, () => [...this.nodes.keys()]);
        const message = `Sequence "${sequence.id}" leads to "${sequence.targetNodeId}", which does not exist.${hint}`;
        this.problems.error('NODE_NOT_FOUND', this.at(id), message);
      }
    }
  }

  private checkDegree({ id, type, outgoingSequences }: WorkflowNode): void {
    const count = outgoingSequences.length;
    if (type === 'END') {
      if (count > 0) {
        this.problems.error('END_WITH_OUTGOING', this.at(id), 'An END must not have outgoing sequences.');
      }
    } else if (count === 0) {
      this.problems.error(
        'NODE_WITHOUT_OUTGOING',
        this.at(id),
        'The run would stop here: add a sequence that leads to an END.',
      );
    } else if (count > 1 && type !== 'CONDITION') {
      const message = `Only a CONDITION can have more than one outgoing sequence; this ${type} has ${count}.`;
      this.problems.error('TOO_MANY_OUTGOING', this.at(id), message);
    }
  }

  private checkStartAndEnd(): void {
    const starts = this.workflow.nodes.filter(({ type }) => type === 'START');
    if (starts.length !== 1) {
      const message = `A workflow must have one START; this one has ${starts.length}.`;
      this.problems.error('START_COUNT', this.at(starts[1]?.id ?? null), message);
    }
    for (const { id } of starts.filter(({ id }) => this.incoming.has(id))) {
      this.problems.error('START_WITH_INCOMING', this.at(id), 'A START must not have incoming sequences.');
    }
    if (!this.workflow.nodes.some(({ type }) => type === 'END')) {
      this.problems.error('END_MISSING', this.at(null), 'A workflow must have at least one END.');
    }
  }

  /** Finds unreachable nodes and cycles. */
  private checkPaths(): void {
    const start = this.workflow.nodes.find(({ type }) => type === 'START');
    if (start === undefined) {
      return;
    }
    const reached = new Set<string>();
    const cycle = findCycle(start.id, (id) => this.targetsOf(id), reached);
    if (cycle !== undefined) {
      const message = `The workflow would return to this node. Build loops in a process, which records every iteration.`;
      this.problems.error('WORKFLOW_CYCLE', this.at(cycle), message);
    }
    // A cycle or a sequence without a target is already reported and may be why other nodes are unreachable.
    const mayBeReachable = cycle !== undefined || [...reached].some((id) => this.hasMissingTarget(id));
    for (const { id, type } of this.workflow.nodes) {
      if (!mayBeReachable && type !== 'START' && !reached.has(id)) {
        this.problems.error('NODE_UNREACHABLE', this.at(id), 'No path leads here from the START.');
      }
    }
  }

  private hasMissingTarget(id: string): boolean {
    const sequences = this.nodes.get(id)?.outgoingSequences ?? [];
    return sequences.some(({ targetNodeId }) => !this.nodes.has(targetNodeId));
  }

  private targetsOf(id: string): string[] {
    const sequences = this.nodes.get(id)?.outgoingSequences ?? [];
    return sequences.map(({ targetNodeId }) => targetNodeId).filter((target) => this.nodes.has(target));
  }
}

/**
 * Walks a graph from a vertex, depth first, without recursion because chains may be long.
 * @param reached receives the visited vertices
 * @returns a vertex to which the walk returns; undefined without a cycle
 */
export function findCycle(
  start: string,
  targetsOf: (vertex: string) => readonly string[],
  reached: Set<string>,
): string | undefined {
  const onPath = new Set([start]);
  const path = [{ vertex: start, targets: [...targetsOf(start)] }];
  reached.add(start);
  for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
    const next = last.targets.shift();
    if (next === undefined) {
      onPath.delete(last.vertex);
      path.pop();
    } else if (onPath.has(next)) {
      return next;
    } else if (!reached.has(next)) {
      reached.add(next);
      onPath.add(next);
      path.push({ vertex: next, targets: [...targetsOf(next)] });
    }
  }
  return undefined;
}
