import type { ProcessGraph } from '../../src/definitions/model/process-graph.types.js';
import type { EngineEvent, TokenState } from '../../src/tokens/state/engine.types.js';
import type { MemoryInstance } from './memory-engine.js';

/** Background work of instances. */
export interface Background {
  readonly jobs: readonly {
    readonly instanceId: number;
    readonly job: { readonly kind: string; readonly tokenId?: number | null; readonly visit?: number | null };
  }[];
  readonly waits: readonly {
    readonly instanceId: number;
    readonly tokenId: number;
    readonly visit: number;
  }[];
}

/** Checks the invariants of an instance at rest. @throws Error that names the first broken one */
export function checkInvariants(background: Background, instance: MemoryInstance): void {
  checkStates(instance);
  checkTree(instance);
  checkJoins(instance);
  checkStuck(instance);
  checkBackground(background, instance);
}

function invariant(condition: boolean, what: string, instance: MemoryInstance): void {
  if (!condition) {
    const tokens = [...instance.state.tokens.values()].map(
      ({ id, parentId, scopeTokenId, node, state }) =>
        `${id}<${parentId}/${scopeTokenId} ${instance.definition.graph.nodes[node]?.key} ${state}`,
    );
    throw new Error(
      `${what}; ${instance.state.state}: ${tokens.join(', ')}; joins ${JSON.stringify(instance.state.joins)}`,
    );
  }
}

/** Tokens live exactly as long as the instance; the audit trail has no gaps and records every state. */
function checkStates(instance: MemoryInstance): void {
  const { state } = instance;
  const alive = [...state.tokens.values()].some(
    (token) => token.state === 'ACTIVE' || token.state === 'ON_HOLD',
  );
  invariant(
    alive === (state.state === 'STARTED' || state.state === 'ONHOLD'),
    'live tokens and state disagree',
    instance,
  );
  invariant(alive || state.tokens.size === 0, 'tokens are left', instance);
  invariant(state.seq === instance.events.length, 'the event number is wrong', instance);
  const audited = auditedState(instance);
  invariant(audited.instance === state.state, 'a change of the instance has no event', instance);
  for (const token of instance.tokens.values()) {
    invariant(
      audited.tokens.get(token.id) === token.state,
      `a change of token ${token.id} has no event`,
      instance,
    );
  }
  invariant(audited.tokens.size === instance.tokens.size, 'a token was not stored', instance);
}

/** State of an instance according to the audit trail up to an event. */
interface AuditedState {
  events: number;
  instance: unknown;
  tokens: Map<number, unknown>;
}

const AUDITED = new WeakMap<MemoryInstance, AuditedState>();

/** Follows the audit trail from the event where the last call stopped. */
function auditedState(instance: MemoryInstance): AuditedState {
  const audited = AUDITED.get(instance) ?? { events: 0, instance: 'CREATED', tokens: new Map() };
  AUDITED.set(instance, audited);
  for (const event of instance.events.slice(audited.events)) {
    audited.events += 1;
    invariant(event.seq === audited.events, 'the audit trail has gaps', instance);
    applyEvent(instance, audited, event);
  }
  return audited;
}

function applyEvent(
  instance: MemoryInstance,
  audited: AuditedState,
  { kind, tokenId, data }: EngineEvent,
): void {
  const id = tokenId ?? -1;
  if (kind === 'TOKEN_CREATED') {
    invariant(!audited.tokens.has(id), 'a token was created twice', instance);
    audited.tokens.set(id, data?.state);
  } else if (kind === 'TOKEN_STATE') {
    invariant(audited.tokens.get(id) === data?.from, `token ${id} was not ${String(data?.from)}`, instance);
    audited.tokens.set(id, data?.to);
  } else if (kind === 'INSTANCE_STATE') {
    invariant(audited.instance === data?.from, `the instance was not ${String(data?.from)}`, instance);
    audited.instance = data?.to;
  }
}

function checkTree(instance: MemoryInstance): void {
  const { tokens } = instance.state;
  for (const token of tokens.values()) {
    const children = [...tokens.values()].filter(({ parentId }) => parentId === token.id);
    invariant(instance.definition.graph.nodes[token.node] !== undefined, 'a token is on no node', instance);
    invariant(
      token.syncFinished >= 0 && token.syncFinished <= token.syncCount,
      `sync counts of ${token.id}`,
      instance,
    );
    invariant(
      token.parentId === null || tokens.get(token.parentId)?.state === 'ON_HOLD',
      `parent of ${token.id}`,
      instance,
    );
    invariant(
      (token.state === 'ON_HOLD') === children.length > 0,
      `token ${token.id} is held for nothing`,
      instance,
    );
    invariant(
      token.scopeTokenId ===
        (instance.definition.node(token.node).scope === null ? null : token.scopeTokenId) &&
        (token.scopeTokenId === null) === (instance.definition.node(token.node).scope === null),
      `scope of ${token.id}`,
      instance,
    );
    invariant(
      token.scopeTokenId === null ||
        tokens.get(token.scopeTokenId)?.node === instance.definition.node(token.node).scope,
      `token ${token.id} runs in another subprocess than that of its node`,
      instance,
    );
  }
}

function checkJoins(instance: MemoryInstance): void {
  const { joins, tokens } = instance.state;
  const parked = joins.flatMap(({ arrivals }) => arrivals.flat());
  invariant(new Set(parked).size === parked.length, 'a token is parked twice', instance);
  for (const join of joins) {
    const counts = join.arrivals.map(({ length }) => length);
    invariant(
      counts.some((count) => count > 0),
      'an empty join is kept',
      instance,
    );
    for (const id of join.arrivals.flat()) {
      const token = tokens.get(id);
      invariant(
        token?.node === join.node && token.scopeTokenId === join.scopeTokenId,
        `parked token ${id}`,
        instance,
      );
    }
    const { kind } = instance.definition.node(join.node);
    if (kind === 'PARALLEL_GATEWAY') {
      invariant(counts.includes(0), 'a parallel join that could fire has not', instance);
    } else {
      invariant(
        [...tokens.values()].some((token) => delays(instance, token, join)),
        'an inclusive join waits for no token',
        instance,
      );
    }
  }
  for (const token of tokens.values()) {
    invariant(
      token.state !== 'INACTIVE' || parked.includes(token.id),
      `token ${token.id} is neither parked nor alive`,
      instance,
    );
  }
}

/** An instance at rest whose tokens all wait at joins is stuck forever and must be marked. */
function checkStuck({ state, ...instance }: MemoryInstance): void {
  const { tokens, joins, pending } = state;
  const parked = new Set(joins.flatMap(({ arrivals }) => arrivals.flat()));
  const free = [...tokens.values()].filter((token) => token.state !== 'ON_HOLD' && !parked.has(token.id));
  invariant(
    state.state !== 'STARTED' ||
      pending.length > 0 ||
      free.length > 0 ||
      joins.some(({ missing }) => missing !== undefined),
    'all tokens wait at joins, and none is marked as stuck',
    { ...instance, state },
  );
}

/** Independent implementation of BPMN 2.0.2, 13.4.3, that searches the graph without the compiler's lookups. */
function delays(
  instance: MemoryInstance,
  token: TokenState,
  join: MemoryInstance['state']['joins'][number],
): boolean {
  const { graph } = instance.definition;
  const isSplit = token.state === 'ON_HOLD' && graph.nodes[token.node]?.kind !== 'SUB_PROCESS';
  if (token.scopeTokenId !== join.scopeTokenId || isSplit) {
    return false;
  }
  const pending = instance.state.pending.find(({ tokenId }) => tokenId === token.id);
  if (token.node === join.node && pending === undefined) {
    return false;
  }
  const flows = flowsInto(graph, join.node, token.node, pending?.flow);
  const gateway = graph.nodes[join.node]!;
  const hits = gateway.incoming.map((flow, index) => ({
    hit: flows.has(flow),
    full: (join.arrivals[index]?.length ?? 0) > 0,
  }));
  return hits.some(({ hit, full }) => hit && !full) && !hits.some(({ hit, full }) => hit && full);
}

function flowsInto(
  graph: ProcessGraph,
  target: number,
  from: number,
  pending: number | undefined,
): Set<number> {
  const found = new Set<number>();
  const seen = new Set<number>();
  const open = pending === undefined ? flowsFrom(graph, from) : [pending];
  for (let flow = open.pop(); flow !== undefined; flow = open.pop()) {
    const next = graph.flows[flow]!.target;
    if (next === target) {
      found.add(flow);
    } else if (!seen.has(next)) {
      seen.add(next);
      open.push(...flowsFrom(graph, next));
    }
  }
  return found;
}

function flowsFrom(graph: ProcessGraph, node: number): number[] {
  const { outgoing, boundaries } = graph.nodes[node]!;
  return [...outgoing, ...boundaries.flatMap((boundary) => graph.nodes[boundary]!.outgoing)];
}

/** Jobs and waits belong to current visits. */
function checkBackground(background: Background, instance: MemoryInstance): void {
  const { tokens, id } = instance.state;
  const isLive = ({ tokenId, visit }: { tokenId: number; visit: number }) =>
    tokens.get(tokenId)?.visit === visit;
  for (const { instanceId, job } of background.jobs) {
    if (instanceId === id && ['TIMER', 'ACTION_DUE', 'WORKFLOW'].includes(job.kind)) {
      invariant(
        isLive(job as { tokenId: number; visit: number }),
        `job ${JSON.stringify(job)} is left`,
        instance,
      );
    }
  }
  for (const wait of background.waits) {
    invariant(wait.instanceId !== id || isLive(wait), `wait ${JSON.stringify(wait)} is left`, instance);
  }
}
