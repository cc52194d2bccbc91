import type {
  ActionOperation,
  CallTarget,
  EventDefinition,
  GraphAction,
  GraphFlow,
  GraphNode,
  GraphUiAction,
  NodeKind,
  ProcessGraph,
} from '../../src/definitions/model/process-graph.types.js';
import { expect } from 'vitest';
import { checkInvariants } from '../support/invariants.js';
import { MemoryEngine } from '../support/memory-engine.js';

type NodeOptions = Partial<
  Omit<GraphNode, 'index' | 'key' | 'kind' | 'scope' | 'attachedTo' | 'actions' | 'call'>
> & {
  /** Key of the enclosing embedded subprocess. */
  in?: string;
  actions?: GraphAction[];
};

/**
 * Process graphs made by hand: nodes by key, flows as `a -> b`, conditions behind a question mark, `default` for the default
 * flow. UI actions `ui:NODE.ACTION` are bound to every manual action.
 */
export class TestGraph {
  private readonly nodes: GraphNode[] = [];
  private readonly flows: GraphFlow[] = [];

  constructor(private readonly name = 'test') {}

  node(
    key: string,
    kind: NodeKind,
    { in: scope, ...options }: NodeOptions = {},
    call: CallTarget | null = null,
  ): this {
    const actions = options.actions ?? [];
    this.nodes.push({
      index: this.nodes.length,
      id: this.nodes.length + 1,
      key,
      svcUuid: `node:${key}`,
      name: null,
      kind,
      event: null,
      scope: scope === undefined ? null : this.indexOf(scope),
      lane: null,
      incoming: [],
      outgoing: [],
      defaultFlow: null,
      startCondition: null,
      starts: [],
      boundaries: [],
      attachedTo: null,
      interrupting: true,
      condition: null,
      canGoBack: true,
      uiActions: uiActionsOf(key, actions),
      call,
      timeout: null,
      ...options,
      actions: actions.map((action) => ({ ...action, svcUuid: `${key}.${action.name}` })),
    });
    return this;
  }

  start(key = 'start', options: NodeOptions = {}): this {
    return this.node(key, 'START_EVENT', { event: { type: 'NONE' }, ...options });
  }

  end(key = 'end', event: EventDefinition = { type: 'NONE' }, options: NodeOptions = {}): this {
    return this.node(key, 'END_EVENT', { event, ...options });
  }

  task(key: string, actions: GraphAction[] = [], options: NodeOptions = {}): this {
    return this.node(key, 'TASK', { ...options, actions });
  }

  /** A user task; without actions it has one mandatory manual action `done` that stores everything. */
  user(key: string, actions: GraphAction[] = [manual('done')], options: NodeOptions = {}): this {
    return this.node(key, 'USER_TASK', { ...options, actions });
  }

  xor(key: string, options: NodeOptions = {}): this {
    return this.node(key, 'EXCLUSIVE_GATEWAY', options);
  }

  and(key: string, options: NodeOptions = {}): this {
    return this.node(key, 'PARALLEL_GATEWAY', options);
  }

  or(key: string, options: NodeOptions = {}): this {
    return this.node(key, 'INCLUSIVE_GATEWAY', options);
  }

  /** An intermediate catch event. */
  event(key: string, event: EventDefinition, options: NodeOptions = {}): this {
    return this.node(key, 'INTERMEDIATE_CATCH_EVENT', { event, ...options });
  }

  sub(key: string, options: NodeOptions = {}): this {
    return this.node(key, 'SUB_PROCESS', options);
  }

  call(key: string, target: Partial<CallTarget> = {}, options: NodeOptions = {}): this {
    return this.node(key, 'CALL_ACTIVITY', options, {
      process: 'child',
      appId: null,
      startCondition: null,
      waits: true,
      copy: { mode: 'ALL' },
      outputKey: null,
      multiInstance: null,
      ...target,
    });
  }

  /** A boundary event on an activity. */
  boundary(key: string, host: string, event: EventDefinition, options: NodeOptions = {}): this {
    const attachedTo = this.indexOf(host);
    const scope = this.nodes[attachedTo]?.scope ?? null;
    this.node(key, 'BOUNDARY_EVENT', { event, ...options });
    const node = this.nodes.at(-1)!;
    node.attachedTo = attachedTo;
    node.scope = scope;
    this.nodes[attachedTo]!.boundaries.push(node.index);
    return this;
  }

  /** Chains of flows: `start -> a -> b`, `x -> b ? amount > 3`, `x -> c default`. */
  flow(...chains: string[]): this {
    for (const chain of chains) {
      const [way = '', condition] = chain.split('?').map((part) => part.trim());
      const isDefault = way.endsWith(' default');
      const keys = way
        .replace(/ default$/, '')
        .split('->')
        .map((key) => key.trim());
      keys.slice(1).forEach((key, position) => {
        this.addFlow(this.indexOf(keys[position] ?? ''), this.indexOf(key), condition ?? null, isDefault);
      });
    }
    return this;
  }

  build(): ProcessGraph {
    const starts = (scope: number | null) =>
      this.nodes.flatMap((node) => (node.kind === 'START_EVENT' && node.scope === scope ? [node.index] : []));
    for (const node of this.nodes) {
      node.starts = node.kind === 'SUB_PROCESS' ? starts(node.index) : [];
    }
    return {
      format: 1,
      svcUuid: `process:${this.name}`,
      key: this.name,
      name: this.name,
      nodes: this.nodes,
      flows: this.flows,
      lanes: [],
      starts: starts(null),
      inputSchema: null,
      expiresAfter: null,
    };
  }

  private addFlow(source: number, target: number, condition: string | null, isDefault: boolean): void {
    const index = this.flows.length;
    this.flows.push({ index, key: `flow${index}`, source, target, condition });
    this.nodes[source]!.outgoing.push(index);
    this.nodes[target]!.incoming.push(index);
    if (isDefault) {
      this.nodes[source]!.defaultFlow = index;
    }
  }

  private indexOf(key: string): number {
    const node = this.nodes.find((candidate) => candidate.key === key);
    if (node === undefined) {
      throw new Error(`No node ${key}`);
    }
    return node.index;
  }
}

function uiActionsOf(key: string, actions: readonly GraphAction[]): GraphUiAction[] {
  return actions
    .filter((action) => action.manual)
    .map(({ name }) => ({
      svcUuid: `ui:${key}.${name}`,
      name,
      action: name,
      body: null,
      bodySchema: null,
      excludeKeys: [],
    }));
}

const ACTION: Omit<GraphAction, 'name'> = {
  svcUuid: '',
  order: 0,
  manual: true,
  optional: false,
  repeatable: false,
  keys: ['*'],
  parent: null,
  autoRunChildren: false,
  delay: null,
  back: null,
  operation: { kind: 'SAVE_DATA', data: null },
};

/** A mandatory manual action that stores what the caller sends. */
export function manual(name: string, options: Partial<GraphAction> = {}): GraphAction {
  return { ...ACTION, name, ...options };
}

/** An action that runs when the token arrives. */
export function automatic(
  name: string,
  operation: ActionOperation,
  options: Partial<GraphAction> = {},
): GraphAction {
  return { ...ACTION, name, manual: false, operation, ...options };
}

/** An automatic action that runs a workflow, which test code answers. */
export function workflow(
  name: string,
  options: Partial<GraphAction> = {},
  resultKey: string | null = null,
): GraphAction {
  return automatic(
    name,
    { kind: 'START_WORKFLOW', workflow: name, appId: null, input: null, resultKey },
    options,
  );
}

/** An automatic action that stores constant or templated data. */
export function save(
  name: string,
  data: Record<string, unknown>,
  options: Partial<GraphAction> = {},
): GraphAction {
  return automatic(name, { kind: 'SAVE_DATA', data }, options);
}

/** A manual action to which a token can go back. */
export function returning(name: string, options: Partial<GraphAction> = {}): GraphAction {
  return manual(name, { back: { removeKeys: [], restoreKeys: [] }, ...options });
}

/** A memory engine that checks the invariants of an instance after each step. */
export function engineOf(...graphs: TestGraph[]): MemoryEngine {
  const engine = new MemoryEngine(...graphs.map((graph) => graph.build()));
  engine.afterStep = (instance) => checkInvariants(engine, instance);
  return engine;
}

/** Expects a refusal or incident with these members. */
export function expectFailure(attempt: () => unknown, members: Record<string, unknown>): void {
  expect(attempt).toThrow(expect.objectContaining(members));
}
