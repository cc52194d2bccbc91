import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { JsonObject } from '../../json/json.js';
import type { MessageWait, TokenState } from '../state/engine.types.js';
import type { StepRun } from '../state/step-run.js';
import { valueOf } from './token-flow.js';
import type { GraphNode } from '../../definitions/model/process-graph.types.js';
import { delayed, dueAt } from '../state/due-times.js';

/** Longest correlation, in UTF-16 units, that the audit trail stores as it is. */
const CORRELATION_SHOWN = 256;

/** A message to publish or wait for: its name, and a CEL expression whose value must be equal on both sides. */
export type MessageReference = Readonly<Pick<MessageWait, 'message' | 'correlation'>>;

/**
 * Publishes a message; a background job delivers it.
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

/** Replaces a long correlation by its hash for the audit trail, which still shows equal values. */
function forTrail(correlation: string | null): string | null {
  return correlation === null || correlation.length <= CORRELATION_SHOWN
    ? correlation
    : `sha256:${bytesToHex(sha256(utf8ToBytes(correlation)))}`;
}

/** Evaluates a correlation to text. Replaces lone surrogates, which the database would change, so they would never match. */
export function correlationOf(run: StepRun, token: TokenState, reference: MessageReference): string | null {
  if (reference.correlation === null) {
    return null;
  }
  const value = valueOf(run, reference.correlation, token);
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
}

/**
 * Starts the timers and message waits of a resting token's node and its boundary events. Call it once per visit.
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

/** Whether a receive task still waits. After an event-based gateway, its message arrives before the token. */
export function isAwaitingMessage({ status }: TokenState, { kind }: GraphNode): boolean {
  return kind === 'RECEIVE_TASK' && status !== 'MESSAGE_RECEIVED' && status !== 'MESSAGE_RESPONSE_TIMED_OUT';
}

/** Returns the targets of an event-based gateway. */
export function targetsOf(run: StepRun, gateway: GraphNode): GraphNode[] {
  return gateway.outgoing.map((flow) => run.definition.node(run.definition.flow(flow).target));
}

/** Starts the timer or message wait of one node. A token can have several. */
export function armNode(run: StepRun, token: TokenState, node: GraphNode): void {
  const { event } = node;
  const place = { tokenId: token.id, visit: token.visit, node: node.index };
  if (event?.type === 'TIMER') {
    run.jobs.push({ kind: 'TIMER', ...place, at: dueAt(run, event.timer, token) });
  } else if (event?.type === 'MESSAGE') {
    run.waits.push({ ...place, message: event.message, correlation: correlationOf(run, token, event) });
  }
  // A timeout belongs to the visit of the task itself.
  if (node.timeout !== null && node.index === token.node) {
    run.jobs.push({ kind: 'TIMER', ...place, at: delayed(run, node.timeout, token) });
  }
}
