import type { JoinState, TokenState } from '../state/engine.types.js';
import type { RuntimeNode } from '../state/runtime-definition.js';
import type { StepRun } from '../state/step-run.js';
import { enter, leave, settleParents } from './token-flow.js';
import { createToken, removeToken, splitParentOf, unpark } from '../state/tokens.js';

/** Whether tokens wait for each other at a node: a parallel or inclusive gateway with several incoming flows. */
export function isJoin(node: RuntimeNode): boolean {
  return node.incoming.length > 1 && (node.kind === 'PARALLEL_GATEWAY' || node.kind === 'INCLUSIVE_GATEWAY');
}

/**
 * Handles the arrival of a token at a join. A parallel join fires when each flow has an arrival, and consumes one of each (BPMN
 * 2.0.2, 13.4.1). Inclusive joins are checked once no token is moving.
 */
export function arriveAtJoin(run: StepRun, token: TokenState, flow: number): void {
  const node = run.nodeOf(token);
  park(run, token, node, node.incoming.indexOf(flow));
  if (node.kind === 'PARALLEL_GATEWAY') {
    const join = run.instance.joins.find((candidate) => isSame(candidate, token));
    if (join?.arrivals.every(({ length }) => length > 0) === true) {
      fire(run, join);
    }
  }
}

function isSame(join: JoinState, token: TokenState): boolean {
  return join.node === token.node && join.scopeTokenId === token.scopeTokenId;
}

function park(run: StepRun, token: TokenState, node: RuntimeNode, position: number): void {
  const { instance } = run;
  if (!instance.joins.some((join) => isSame(join, token))) {
    const arrivals = node.incoming.map((): number[] => []);
    instance.joins = [...instance.joins, { node: node.index, scopeTokenId: token.scopeTokenId, arrivals }];
  }
  instance.joins = instance.joins.map((join) =>
    isSame(join, token)
      ? { ...join, arrivals: join.arrivals.with(position, [...(join.arrivals[position] ?? []), token.id]) }
      : join,
  );
  if (token.parentId !== null) {
    run.setTokenState(token.id, 'INACTIVE');
  }
  countArrival(run, token, 1);
}

function countArrival(run: StepRun, token: TokenState, change: 1 | -1): void {
  const parent = splitParentOf(run, token);
  if (parent !== undefined) {
    run.edit(parent.id).syncFinished += change;
  }
}

/** Consumes the first arrival of each flow that has one and lets one token leave. */
function fire(run: StepRun, join: JoinState): void {
  const tokens = join.arrivals.flatMap(([first]) => {
    const token = first === undefined ? undefined : run.token(first);
    return token === undefined ? [] : [token];
  });
  const [only] = tokens;
  if (only === undefined) {
    return;
  }
  const leaving = tokens.length === 1 ? release(run, only) : merge(run, tokens, join);
  leave(run, leaving);
}

/** Releases a parked token that has nothing to wait for. */
function release(run: StepRun, token: TokenState): number {
  unpark(run, token.id);
  countArrival(run, token, -1);
  run.setTokenState(token.id, 'ACTIVE');
  return token.id;
}

/**
 * Merges several tokens into their nearest common ancestor, or into a new child of it while the ancestor waits for more. The ancestor
 * is active again when all have arrived (docs/process-semantics.md, section 5).
 */
function merge(run: StepRun, tokens: readonly TokenState[], join: JoinState): number {
  const ancestor = commonAncestorOf(run, tokens);
  if (ancestor === undefined) {
    return mergeAtTop(run, tokens, join);
  }
  tokens.forEach(({ id }) => removeToken(run, id, 'INACTIVE'));
  tokens.forEach((token) => settleParents(run, token, ancestor.id));
  if (run.childrenOf(ancestor.id) === 0) {
    run.setTokenState(ancestor.id, 'ACTIVE');
    return enter(run, ancestor.id, join.node).id;
  }
  run.edit(ancestor.id).syncCount += 1;
  return createAt(run, join, ancestor.id);
}

/** Merges tokens without a common ancestor: a top-level token continues, or a new one if none has arrived. */
function mergeAtTop(run: StepRun, tokens: readonly TokenState[], join: JoinState): number {
  const top = tokens.find(({ parentId }) => parentId === join.scopeTokenId);
  const leaving = top === undefined ? createAt(run, join, join.scopeTokenId) : release(run, top);
  const others = tokens.filter(({ id }) => id !== leaving);
  others.forEach(({ id }) => removeToken(run, id, 'INACTIVE'));
  others.forEach((token) => settleParents(run, token, null));
  return leaving;
}

function createAt(run: StepRun, join: JoinState, parentId: number | null): number {
  const token = createToken(run, { node: join.node, parentId, scopeTokenId: join.scopeTokenId });
  return enter(run, token.id, join.node).id;
}

function commonAncestorOf(run: StepRun, tokens: readonly TokenState[]): TokenState | undefined {
  const [first = [], ...others] = tokens.map((token) => ancestorsOf(run, token));
  return first.find((ancestor) => others.every((chain) => chain.some(({ id }) => id === ancestor.id)));
}

/** Returns the held ancestors of a token within its embedded subprocess, nearest first. */
function ancestorsOf(run: StepRun, token: TokenState): TokenState[] {
  const chain: TokenState[] = [];
  for (let parent = splitParentOf(run, token); parent !== undefined; parent = splitParentOf(run, parent)) {
    chain.push(parent);
  }
  return chain;
}

/**
 * Fires one inclusive join that has nothing left to wait for (BPMN 2.0.2, 13.4.3): no live token can still reach one of its empty
 * flows, unless the token can also reach a flow with an arrival.
 * @returns whether one fired; call again when its token has come to rest
 */
export function fireInclusiveJoin(run: StepRun): boolean {
  const waiting = run.instance.joins.filter(
    ({ node }) => run.definition.node(node).kind === 'INCLUSIVE_GATEWAY',
  );
  if (waiting.length === 0) {
    return false;
  }
  const blockers = new Map(waiting.map((join) => [join, blockersOf(run, join)]));
  const next = firstInOrder(
    run,
    waiting.filter((join) => blockers.get(join)?.length === 0),
  );
  const join = next ?? firstInOrder(run, deadlocked(waiting, blockers));
  if (join === undefined) {
    return false;
  }
  fire(run, join);
  return true;
}

/** Returns the first join by node number, which stays the same when elements of the file are reordered. */
function firstInOrder(run: StepRun, joins: readonly JoinState[]): JoinState | undefined {
  const [first] = joins.toSorted((one, other) => {
    const [a, b] = [run.definition.node(one.node), run.definition.node(other.node)];
    return a.id - b.id || (a.key < b.key ? -1 : Number(a.key > b.key));
  });
  return first;
}

/** Returns the tokens that an inclusive join waits for. */
export function blockersOf(run: StepRun, join: JoinState): TokenState[] {
  const empty = join.arrivals.map(({ length }) => length === 0);
  if (!empty.includes(true)) {
    return [];
  }
  return [...run.instance.tokens.values()].filter((token) => {
    if (token.scopeTokenId !== join.scopeTokenId || isHeldBySplit(run, token)) {
      return false;
    }
    const reached = flowsWithinReach(run, token, join);
    return reached.some((position) => empty[position]) && reached.every((position) => empty[position]);
  });
}

/**
 * Whether a token is held because it was split, so that its children count instead. A token that waits at an embedded subprocess
 * counts for the tokens inside; one that was split after the subprocess is still on that node but no longer executes it.
 */
export function isHeldBySplit(run: StepRun, token: TokenState): boolean {
  const waits = run.nodeOf(token).kind === 'SUB_PROCESS' && token.status === 'EXECUTING';
  return token.state === 'ON_HOLD' && !waits;
}

/** Returns the positions of incoming flows over which a token can still arrive without passing the join first. */
function flowsWithinReach(run: StepRun, token: TokenState, join: JoinState): number[] {
  const gateway = run.definition.node(join.node);
  const pending = run.instance.pending.find(({ tokenId }) => tokenId === token.id);
  const target = pending === undefined ? token.node : run.definition.flow(pending.flow).target;
  if (target === join.node) {
    return pending === undefined ? [] : [gateway.incoming.indexOf(pending.flow)];
  }
  const { reachability } = run.definition;
  return gateway.incoming.flatMap((flow, position) =>
    reachability.canArriveOver(flow, target) ? [position] : [],
  );
}

/** Returns the inclusive joins that only wait for each other. */
function deadlocked(
  waiting: readonly JoinState[],
  blockers: ReadonlyMap<JoinState, readonly TokenState[]>,
): JoinState[] {
  let stuck = [...waiting];
  for (let size = -1; size !== stuck.length;) {
    size = stuck.length;
    const parked = new Set(stuck.flatMap(({ arrivals }) => arrivals.flat()));
    stuck = stuck.filter((join) => blockers.get(join)?.every(({ id }) => parked.has(id)));
  }
  return stuck;
}
