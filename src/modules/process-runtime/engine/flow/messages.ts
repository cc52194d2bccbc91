import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../../common/json.js';
import type { TokenState } from '../state/engine.types.js';
import type { StepRun } from '../state/step-run.js';
import { evaluated } from './token-flow.js';

/** UTF-16 units of a correlation that the audit trail shows as it is. */
const CORRELATION_SHOWN = 256;

/** A message that is published or waited for: a name, and a CEL expression for the value that both sides must share. */
export interface MessageReference {
  readonly message: string;
  readonly correlation: string | null;
}

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
    : `sha256:${createHash('sha256').update(correlation).digest('hex')}`;
}

/** The value of a correlation as text. Half surrogates would be stored as something else and never match. */
export function correlationOf(run: StepRun, token: TokenState, reference: MessageReference): string | null {
  if (reference.correlation === null) {
    return null;
  }
  const value = evaluated(run, reference.correlation, token, 'CONDITION_EVALUATION', (expression, data) =>
    expression.evaluate(data, run.work),
  );
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString();
}
