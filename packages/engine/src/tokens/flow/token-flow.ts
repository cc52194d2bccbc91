import type { JsonObject } from '../../json/json.js';
import type { CompiledExpression } from '../../expressions/cel-expression.js';
import type { GraphFlow } from '../../definitions/model/process-graph.types.js';
import type { TokenState } from '../state/engine.types.js';
import { dataFor } from '../state/process-data.js';
import type { RuntimeNode } from '../state/runtime-definition.js';
import type { StepRun } from '../state/step-run.js';
import { createToken, hasPendingAction, lineageOf, removeToken, splitParentOf } from '../state/tokens.js';

/** Puts a token on a node and starts a new visit. */
export function enter(run: StepRun, id: number, node: number): TokenState {
  const token = run.edit(id);
  const left = run.nodeOf(token);
  if (!left.canGoBack && run.instance.returnPoints.length > 0) {
    // Leaving a node that forbids going back drops the return points of the token and its ancestors (docs/process-semantics.md, section 8).
    const line = lineageOf(run, token);
    run.instance.returnPoints = run.instance.returnPoints.filter(({ tokenId }) => !line.has(tokenId));
  }
  token.node = node;
  token.status = 'ARRIVED';
  token.actions = {};
  token.call = null;
  run.event('NODE_ENTERED', token, { visit: token.visit });
  return token;
}

/**
 * Ends the visit of a node, which invalidates its jobs and waits, even while the token is held or moving.
 * @param data added to the event, in addition to the status
 */
export function depart(run: StepRun, token: TokenState, data: JsonObject = {}): void {
  if ((run.nodeOf(token).waits || hasPendingAction(token)) && run.wasStored(token)) {
    run.cancelBackground(token);
  }
  run.event('NODE_LEFT', token, { status: token.status, ...data });
  token.visit += 1;
}

/**
 * Lets a token leave its node over the flows whose conditions hold, or end if the node has no outgoing flows.
 * @throws EngineIncident when a condition fails or no flow can be taken
 */
export function leave(run: StepRun, id: number): void {
  const token = run.edit(id);
  const node = run.nodeOf(token);
  // These statuses record how a wait ended.
  if (token.status !== 'MESSAGE_RECEIVED' && token.status !== 'MESSAGE_RESPONSE_TIMED_OUT') {
    token.status = 'EXECUTED_COMPLETE';
  }
  const flows = takenFlows(run, node, token);
  depart(run, token);
  const [first] = flows;
  if (first === undefined) {
    endToken(run, id);
  } else if (flows.length === 1) {
    run.queue.push({ tokenId: id, flow: first });
  } else {
    split(run, token, flows);
  }
}

/** Ends a token, and the ancestors that only waited for it. */
export function endToken(run: StepRun, id: number): void {
  const token = run.edit(id);
  token.status = 'EXECUTED_COMPLETE';
  removeToken(run, id, 'INACTIVE');
  settleParents(run, token, null);
}

/**
 * Updates ancestors after a token has ended: a held token without children ends, and an embedded subprocess without tokens is
 * complete (BPMN 2.0.2, 13.3.4).
 * @param keep ancestor at which to stop; null for none
 */
export function settleParents(run: StepRun, gone: TokenState, keep: number | null): void {
  let child = gone;
  while (child.parentId !== null && child.parentId !== keep && run.childrenOf(child.parentId) === 0) {
    const parent = run.token(child.parentId);
    if (parent === undefined) {
      return;
    }
    if (child.scopeTokenId === parent.id) {
      run.setTokenState(parent.id, 'ACTIVE');
      leave(run, parent.id);
      return;
    }
    removeToken(run, parent.id, 'INACTIVE');
    child = parent;
  }
}

/** Splits a token: it is held and each flow gets a child (docs/process-semantics.md, section 5). */
function split(run: StepRun, token: TokenState, flows: readonly number[]): void {
  const parent = holderOf(run, token);
  parent.syncCount = flows.length;
  parent.syncFinished = 0;
  for (const flow of flows) {
    const { id: parentId, scopeTokenId } = parent;
    const child = createToken(run, { node: token.node, parentId, scopeTokenId });
    run.queue.push({ tokenId: child.id, flow });
  }
}

/**
 * Returns the token to hold: the token itself, or its parent if that waits for nothing else. Otherwise a loop with a branch that ends
 * would grow the tree with every iteration.
 */
function holderOf(run: StepRun, token: TokenState): TokenState {
  const parent = splitParentOf(run, token);
  if (parent === undefined || run.childrenOf(parent.id) > 1) {
    run.setTokenState(token.id, 'ON_HOLD');
    return token;
  }
  const holder = run.edit(parent.id);
  holder.node = token.node;
  run.instance.returnPoints = run.instance.returnPoints.map((point) =>
    point.tokenId === token.id ? { ...point, tokenId: holder.id, visit: 0 } : point,
  );
  removeToken(run, token.id, 'INACTIVE');
  return holder;
}

function takenFlows(run: StepRun, node: RuntimeNode, token: TokenState): readonly number[] {
  const { outgoing } = node;
  if (outgoing.length === 0 || node.kind === 'PARALLEL_GATEWAY') {
    return outgoing;
  }
  const taken = node.kind === 'EXCLUSIVE_GATEWAY' ? exclusive(run, node, token) : inclusive(run, node, token);
  if (taken.length === 0) {
    throw run.incident('NODE', `No outgoing flow of ${nameOf(node)} can be taken with this data.`, token);
  }
  return taken;
}

/** Returns the first flow in modelled order whose condition holds, otherwise the default flow (BPMN 2.0.2, 13.4.2). */
function exclusive(run: StepRun, node: RuntimeNode, token: TokenState): number[] {
  const first = node.outgoing.find(
    (flow) => flow !== node.defaultFlow && isDue(run, run.definition.flow(flow), token),
  );
  const taken = first ?? node.defaultFlow;
  return taken === null ? [] : [taken];
}

/** Returns unconditional flows and those whose condition holds; adds the default flow if no condition holds (BPMN 2.0.2, 13.4.3 and 8.4.13). */
function inclusive(run: StepRun, node: RuntimeNode, token: TokenState): number[] {
  const conditional = node.outgoing.filter(
    (flow) => flow !== node.defaultFlow && run.definition.flow(flow).condition !== null,
  );
  const chosen = new Set(conditional.filter((flow) => isDue(run, run.definition.flow(flow), token)));
  return node.outgoing.filter((flow) =>
    flow === node.defaultFlow
      ? chosen.size === 0
      : chosen.has(flow) || run.definition.flow(flow).condition === null,
  );
}

function isDue(run: StepRun, { condition }: GraphFlow, token: TokenState): boolean {
  const type = run.nodeOf(token).kind.endsWith('GATEWAY') ? 'GATEWAY_EVALUATION' : 'CONDITION_EVALUATION';
  return condition === null || isTrue(run, condition, token, type);
}

type EvaluationType = 'CONDITION_EVALUATION' | 'GATEWAY_EVALUATION';

/** Evaluates a condition. @throws EngineIncident as `evaluated` */
export function isTrue(run: StepRun, source: string, token: TokenState, type: EvaluationType): boolean {
  return evaluated(run, source, token, type, (condition, data) => condition.test(data, run.work));
}

/** Evaluates an expression. @throws EngineIncident as `evaluated` */
export function valueOf(run: StepRun, source: string, token: Pick<TokenState, 'id' | 'node'>): unknown {
  return evaluated(run, source, token, 'CONDITION_EVALUATION', (expression, data) =>
    expression.evaluate(data, run.work),
  );
}

/**
 * Evaluates an expression with the process data that it reads and the ids of the instance.
 * @throws EngineIncident of the given type on failure: an error is never "false"
 */
function evaluated<T>(
  run: StepRun,
  source: string,
  token: Pick<TokenState, 'id' | 'node'>,
  type: EvaluationType,
  evaluate: (expression: CompiledExpression, data: JsonObject) => T,
): T {
  try {
    const expression = run.definition.expression(source);
    return evaluate(expression, dataFor(run, expression));
  } catch (error) {
    throw run.incident(type, error instanceof Error ? error.message : String(error), token, error);
  }
}

/** Returns the name of a node for messages, or its id if it has none. */
export function nameOf(node: RuntimeNode): string {
  return `"${node.name ?? node.key}"`;
}
