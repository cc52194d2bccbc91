import { ExpressionError } from '../../expressions/expression.errors.js';
import {
  addDuration,
  MAX_DURATION_YEARS,
  parseCycle,
  parseDateTime,
  parseBoundedDuration,
  type IsoCycle,
  type IsoDuration,
} from '../../support/iso-8601.js';
import type { TimerDefinition } from '../../definitions/model/process-graph.types.js';
import { EngineIncident } from './engine.errors.js';
import type { TokenState } from './engine.types.js';
import { renderedText, type RenderedText } from './process-data.js';
import type { StepRun } from './step-run.js';

/** Maximum length of a text quoted in a message. */
const SHOWN = 100;

/**
 * Computes when a timer of a token fires (BPMN 2.0.2, 10.5.5.4; ISO 8601). A date in the past is due immediately. For a cycle it is
 * the first occurrence, since a timer fires once per visit.
 * @returns epoch milliseconds
 * @throws EngineIncident when the rendered text is not a valid date, duration or cycle
 */
export function dueAt(run: StepRun, timer: TimerDefinition, token: TokenState): number {
  const rendered = renderedText(run, timer.expression, token);
  const { text } = rendered;
  const { now } = run.context;
  switch (timer.type) {
    case 'DATE':
      // Database columns cannot hold dates before the year 1000.
      return Math.max(now, requireDueTime(parseDateTime(text), rendered, 'an ISO 8601 date', token));
    case 'DURATION':
      return after(now, parseBoundedDuration(text), rendered, token);
    case 'CYCLE':
      return after(now, parseCycle(text)?.interval, rendered, token);
  }
}

/**
 * Computes when a delay or timeout of a token ends.
 * @param duration ISO 8601, may contain `${…}`
 * @returns epoch milliseconds
 * @throws EngineIncident when it is not a duration
 */
export function delayed(run: StepRun, duration: string, token: TokenState): number {
  const rendered = renderedText(run, duration, token);
  return after(run.context.now, parseBoundedDuration(rendered.text), rendered, token);
}

function after(
  now: number,
  duration: IsoDuration | undefined,
  rendered: RenderedText,
  token: TokenState,
): number {
  return requireDueTime(
    duration && addDuration(now, duration),
    rendered,
    `an ISO 8601 duration of at most ${MAX_DURATION_YEARS} years`,
    token,
  );
}

function requireDueTime(
  due: number | undefined,
  { text, missing: [missing] }: RenderedText,
  what: string,
  { node, id: tokenId }: TokenState,
): number {
  if (due !== undefined) {
    return due;
  }
  const shown = JSON.stringify(text.slice(0, SHOWN));
  const message = `A timer is set to ${shown}, which is not ${what}.`;
  if (missing === undefined) {
    throw new EngineIncident('NODE', 'DEFINITION', message, { node, tokenId });
  }
  const why = `A timer refers to missing data: ${missing.slice(0, SHOWN)}. ${message}`;
  const cause = new ExpressionError(why, 'missing');
  throw new EngineIncident('NODE', 'DEFINITION', why, { node, tokenId }, { cause });
}

/**
 * Computes the n-th occurrence of a cycle. Every occurrence is counted from the anchor, so that late ones do not shift later ones and
 * months keep their day.
 * @param anchor epoch milliseconds when the cycle was set
 * @param occurrence from 1
 * @returns epoch milliseconds; undefined after the last repetition or beyond the range of dates
 */
export function cycleOccurrence(cycle: IsoCycle, anchor: number, occurrence: number): number | undefined {
  if (cycle.repetitions !== null && occurrence > cycle.repetitions) {
    return undefined;
  }
  const { interval } = cycle;
  const parts = Object.entries(interval).map(([unit, amount]) => [unit, amount * occurrence]);
  const due = addDuration(anchor, Object.fromEntries(parts));
  return Number.isNaN(due) ? undefined : due;
}
