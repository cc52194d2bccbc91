import { cached } from '../../support/cached.js';
import { isJsonObject, type JsonObject } from '../../json/json.js';
import { pathsInJson, type ReadPath } from '../../expressions/read-paths.js';
import type { CheckWork } from '../../json-schema/known-members.js';
import { BUILT_IN_NAMES, overlaps, type DataSources } from '../../json-schema/known-data.js';
import { keyTree, type KeyTree } from '../../paths/data-keys.js';
import type { GraphAction, GraphNode, ProcessGraph } from '../model/process-graph.types.js';
import { EVERYTHING, namesOf, sourcesOf, withoutAlias } from './data-names.checks.js';

/** Maximum path length, as deep as data can be. Loops would extend paths with each iteration. */
const MAX_NAMES = 64;

/** A path read after a node, or after some of its actions. */
export interface Read {
  readonly path: ReadPath;
  readonly node: number;
  /** Number of actions executed before the read; by default all. */
  readonly actions?: number;
}

/**
 * Determines whether a value may come from the body of a start, by tracing it back to what wrote it and the values used for that.
 * Values from workflows, people and called processes do not count.
 */
export class StartValues {
  private readonly others = new Map<number, DataSources>();
  private readonly keys = new Map<GraphAction, KeyTree>();

  /** @param isOpen whether anyone may send the body of a start */
  constructor(
    private readonly graph: ProcessGraph,
    private readonly sources: DataSources,
    private readonly work: CheckWork,
    private readonly isOpen: (start: number) => boolean,
  ) {}

  /** Whether a read value may come from the body of a start; false once the work budget is spent. */
  reach(read: Read): boolean {
    const seen = new Set<string>();
    const open = this.unseen([read], seen);
    for (let at = open.pop(); at !== undefined && !this.work.isSpent; at = open.pop()) {
      const origins = this.originsOf(at);
      if (origins === 'body') {
        return true;
      }
      open.push(...this.unseen(origins, seen));
    }
    return false;
  }

  private unseen(reads: readonly Read[], seen: Set<string>): Read[] {
    return reads.filter((read) => {
      const { length } = read.path;
      if (length > MAX_NAMES || !this.work.spend(1 + length)) {
        return false;
      }
      const key = JSON.stringify(read);
      const isNew = !seen.has(key);
      seen.add(key);
      return isNew;
    });
  }

  private originsOf(read: Read): Read[] | 'body' {
    const [root] = read.path;
    if (root !== undefined && BUILT_IN_NAMES.has(root)) {
      return [];
    }
    const found = root === undefined ? 'named' : this.sources.input.look(read.path).found;
    if (found === 'named') {
      return 'body';
    }
    const node = this.graph.nodes[read.node];
    const made = node && this.sourcesAt(node, read);
    const isStart = this.graph.starts.includes(read.node) && this.isOpen(read.node);
    return made ?? (isStart && found === 'open' ? 'body' : this.before(read));
  }

  /** Returns the reads from which a node creates the value; undefined if it does not write it. */
  private sourcesAt(node: GraphNode, { path, actions }: Read): Read[] | undefined {
    const before = node.actions.slice(0, actions);
    for (const [index, action] of [...before.entries()].toReversed()) {
      const found = this.savedBy(action, path);
      if (found !== undefined) {
        const at = { node: node.index, actions: index };
        const made = pathsInJson(found.value).map((read) => {
          return { path: [...withoutAlias(read, this.sources), ...found.below], ...at };
        });
        // Objects are merged, so members missing from the new object remain.
        const mayStay = found.below.length > 0 || isJsonObject(found.value);
        return mayStay ? [...made, { path, ...at }] : made;
      }
    }
    const { taken, written } = this.othersOf(node);
    const isWritten =
      overlaps(taken, path) || written.some((members) => members.look(path).found === 'named');
    return isWritten ? [] : undefined;
  }

  /** Returns the value that an action saves at a path, if its keys allow it. */
  private savedBy(action: GraphAction, path: ReadPath): ReturnType<typeof valueAt> {
    const { operation } = action;
    const found =
      operation.kind === 'SAVE_DATA' && operation.data !== null ? valueAt(operation.data, path) : undefined;
    return found !== undefined && overlaps(this.keysOf(action), path) ? found : undefined;
  }

  private keysOf(action: GraphAction): KeyTree {
    return cached(this.keys, action, () =>
      keyTree(action.keys.map((key) => (key === EVERYTHING ? [] : namesOf(key)))),
    );
  }

  /** Returns the data that a node writes other than by templates. */
  private othersOf(node: GraphNode): DataSources {
    return cached(this.others, node.index, () => {
      const actions = node.actions.filter(
        ({ operation, manual }) => manual || operation.kind !== 'SAVE_DATA',
      );
      const only = { ...this.graph, nodes: [{ ...node, actions }], inputSchema: null };
      return sourcesOf(only, new Map(), this.work);
    });
  }

  private before({ node, path }: Read): Read[] {
    const before = this.nodesBefore(this.graph.nodes[node]);
    return before.map((index) => ({ path, node: index }));
  }

  /** Returns the possible direct predecessors of a node. */
  private nodesBefore(node: GraphNode | undefined): number[] {
    if (node === undefined) {
      return [];
    }
    const { attachedTo, incoming, scope } = node;
    if (attachedTo !== null) {
      const inside = this.inside(attachedTo).map(({ index }) => index);
      return [attachedTo, ...inside, ...this.nodesBefore(this.graph.nodes[attachedTo])];
    }
    const sources = incoming.flatMap((flow) => this.graph.flows[flow]?.source ?? []);
    const outside = sources.length === 0 && scope !== null ? [scope] : [];
    return [...sources.flatMap((source) => this.endsOf(source)), ...outside];
  }

  /** Returns the last nodes of an embedded subprocess; for any other node the node itself. */
  private endsOf(index: number): number[] {
    const ends = this.inside(index).filter(({ outgoing }) => outgoing.length === 0);
    return ends.length === 0 ? [index] : ends.flatMap((end) => this.endsOf(end.index));
  }

  private inside(index: number): GraphNode[] {
    const { starts, kind } = this.graph.nodes[index] ?? { starts: [], kind: 'TASK' };
    return kind === 'SUB_PROCESS' && starts.length > 0
      ? this.graph.nodes.filter(({ scope }) => scope === index)
      : [];
  }
}

/** Returns the value of a JSON template at a path, with the rest of the path below it; undefined if there is none. */
function valueAt(data: JsonObject, path: ReadPath): { value: unknown; below: ReadPath } | undefined {
  let value: unknown = data;
  for (const [index, name] of path.entries()) {
    if (!isJsonObject(value)) {
      return { value, below: typeof value === 'string' ? path.slice(index) : [] };
    }
    if (!Object.hasOwn(value, name)) {
      return undefined;
    }
    value = value[name];
  }
  return { value, below: [] };
}
