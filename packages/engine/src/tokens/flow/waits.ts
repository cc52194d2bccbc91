import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { JsonObject } from '../../json/json.js';
import type { MessageWait, TokenState } from '../state/engine.types.js';
import type { StepRun } from '../state/step-run.js';
import { valueOf } from './token-flow.js';
import type { GraphNode } from '../../definitions/model/process-graph.types.js';
import { delayed, dueAt } from '../state/due-times.js';

/** UTF-16 units of a correlation that the audit trail shows as it is. */
const CORRELATION_SHOWN = 256;

/** A message that is published or waited for: a name, and a CEL expression for the value that both sides must share. */
export type MessageReference = Readonly<Pick<MessageWait, 'message' | 'correlation'>>;

/**
 * Publishes a message; delivery is the background's.
 * @throws EngineIncident when the correlation fails
 */
export function publish(
  run: StepRun,
  token: TokenState,
  reference: MessageReference,
  payload: JsonObject,
): void {
  const correlation = correlationOf(run, token, reference);
  run.event('MESSAGE_PUBLISHED', token, { message: reference.message, correlation: forTrail(correlation) });
  run.jobs.push({ kind: 'PUBLISH_MESSAGE', message: reference.message, correlation, payload });
}

/** The audit trail keeps a long correlation as its hash, which still tells equal ones. */
function forTrail(correlation: string | null): string | null {
  return correlation === null || correlation.length <= CORRELATION_SHOWN
    ? correlation
    : `sha256:${bytesToHex(sha256(utf8ToBytes(correlation)))}`;
}

/** The value of a correlation as text. Half surrogates would be stored as something else and never match. */
export function correlationOf(run: StepRun, token: TokenState, reference: MessageReference): string | null {
  if (reference.correlation === null) {
    return null;
  }
  const value = valueOf(run, reference.correlation, token);
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
}

/**
 * A token has come to rest: from now on its node and the boundary events on it wait for time and messages. Each visit does
 * this once.
 */
export function arm(run: StepRun, id: number): void {
  const token = run.edit(id);
  const node = run.nodeOf(token);
  if (!node.waits) {
    return;
  }
  if (node.kind === 'EVENT_BASED_GATEWAY') {
    targetsOf(run, node).forEach((target) => armNode(run, token, target));
  } else if (node.kind === 'INTERMEDIATE_CATCH_EVENT' || isAwaitingMessage(token, node)) {
    armNode(run, token, node);
  }
  node.boundaries.forEach((boundary) => armNode(run, token, run.definition.node(boundary)));
}

/** Whether a receive task still waits; behind an event-based gateway its message comes before the token does. */
export function isAwaitingMessage({ status }: TokenState, { kind }: GraphNode): boolean {
  return kind === 'RECEIVE_TASK' && status !== 'MESSAGE_RECEIVED' && status !== 'MESSAGE_RESPONSE_TIMED_OUT';
}

/** What stands behind an event-based gateway. */
export function targetsOf(run: StepRun, gateway: GraphNode): GraphNode[] {
  return gateway.outgoing.map((flow) => run.definition.node(run.definition.flow(flow).target));
}

/** Waits for what one node waits for; a token can wait for several. */
export function armNode(run: StepRun, token: TokenState, node: GraphNode): void {
  const { event } = node;
  const place = { tokenId: token.id, visit: token.visit, node: node.index };
  if (event?.type === 'TIMER') {
    run.jobs.push({ kind: 'TIMER', ...place, at: dueAt(run, event.timer, token) });
  } else if (event?.type === 'MESSAGE') {
    run.waits.push({ ...place, message: event.message, correlation: correlationOf(run, token, event) });
  }
  // A time-out belongs to the visit of the task itself.
  if (node.timeout !== null && node.index === token.node) {
    run.jobs.push({ kind: 'TIMER', ...place, at: delayed(run, node.timeout, token) });
  }
}
