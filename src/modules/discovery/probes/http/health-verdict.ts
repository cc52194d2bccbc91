import { isRecord } from '../net/json-values.js';
import type { ProbeFailure } from '../../model/probe.error.js';
import type { HttpAnswer } from './http-answer.js';

/** What the answer of a health endpoint means. */
export interface HealthVerdict {
  /** Undefined when the service is healthy. */
  failure: ProbeFailure | undefined;
  isDegraded: boolean;
  /** The body when it is JSON. */
  body: unknown;
}

type Health = 'up' | 'degraded' | 'down';

/** The words of Spring Actuator, MicroProfile, Terminus, health+json, ASP.NET, Kubernetes and their likes. */
const WORDS: readonly (readonly [Health, string])[] = [
  ['up', 'up ok pass healthy alive success green'],
  ['degraded', 'degraded warn warning pass-with-warning yellow'],
  ['down', 'down out_of_service unknown error shutting_down fail failed unhealthy critical red'],
];
const MEANINGS: ReadonlyMap<string, Health> = new Map(
  WORDS.flatMap(([health, words]) => words.split(' ').map((word) => [word, health] as const)),
);
const LONGEST_WORD = 32;

/**
 * Judges the answer of a health endpoint. The body counts more than an HTTP error, which says less. A body that says "down"
 * with status 200, as many do, is believed.
 */
export function judge(answer: HttpAnswer): HealthVerdict {
  const body = jsonOf(answer);
  const health = saidBy(body ?? answer.body);
  const isDown = health === 'down';
  return {
    failure: isDown ? 'down' : failureOf(answer.status),
    isDegraded: health === 'degraded',
    body,
  };
}

function jsonOf(answer: HttpAnswer): unknown {
  try {
    return answer.json();
  } catch {
    return undefined;
  }
}

function saidBy(body: unknown): Health | undefined {
  const word = isRecord(body) ? body['status'] : body;
  return typeof word === 'string' && word.length <= LONGEST_WORD
    ? MEANINGS.get(word.trim().toLowerCase())
    : undefined;
}

function failureOf(status: number): ProbeFailure | undefined {
  if (status >= 200 && status < 300) {
    return undefined;
  }
  switch (status) {
    case 401:
      return 'auth';
    case 403:
      return 'forbidden';
    default:
      return 'http_error';
  }
}
