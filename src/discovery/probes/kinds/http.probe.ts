import { isJsonObject, parsedJson } from '#engine/json';
import { failureOfStatus, ProbeError } from '../../model/failures.js';
import type { ProbeOfKind } from '../http/probe-clients.js';
import type { HttpAnswer, ProbeHttp } from '../http/probe-http.js';
import { moreAbout } from '../http/service-details.js';
import { describedBy, known, merged, versionOf } from '../net/self-description.js';

/** Common paths of health endpoints: generic, Spring Actuator, Kubernetes, Dapr. */
const USUAL_PATHS = ['/health', '/actuator/health', '/healthz', '/readyz', '/v1.0/healthz'];
/** Statuses of missing endpoints. */
const ABSENT = new Set([404, 405, 501]);

interface Found {
  answer: HttpAnswer;
  /** Path below the base; empty for the base itself. */
  at: string;
}

/**
 * Checks a service by its health endpoint. Options: `healthPath`, and `infoPath` of a document (or OpenAPI description) with name, version
 * and capabilities.
 */
export const probeHttp: ProbeOfKind = async (component, context, clients) => {
  const { healthPath: path, infoPath } = component.options;
  const http = clients.open(component, context);
  const { answer, at } =
    path === undefined
      ? await findHealth(http, component.credentials === null)
      : { answer: await http.get(path), at: path };
  const body = parsedJson(answer.body);
  const health = healthIn(body ?? answer.body);
  // The body takes precedence over the status: many services report "down" with 200.
  const failure = health === 'down' ? 'down' : failureOfStatus(answer.status);
  if (failure !== undefined) {
    throw new ProbeError(failure);
  }
  if (health === 'degraded') {
    context.warn({ code: 'degraded' });
  }
  const header = versionOf(answer.header('x-app-version'));
  const own = merged([describedBy(body), known('version', header)]);
  return merged([own, await moreAbout(http, { own, at, answer, infoPath })]);
};

/**
 * Finds the first common path that exists and can be read, else the first that exists, else uses the endpoint itself. Kubernetes and Spring
 * Security reject unknown paths; rejected credentials are not tried again.
 */
async function findHealth(http: ProbeHttp, isAnonymous: boolean): Promise<Found> {
  let refused: Found | undefined;
  for (const at of USUAL_PATHS) {
    const answer = await http.get(at);
    if (answer.status === 403 || (answer.status === 401 && isAnonymous)) {
      refused ??= { answer, at };
    } else if (!ABSENT.has(answer.status)) {
      return { answer, at };
    }
  }
  return refused ?? { answer: await http.get(http.base), at: '' };
}

type Health = 'up' | 'degraded' | 'down';

/** Status words of Spring Actuator, MicroProfile, Terminus, health+json, ASP.NET, Kubernetes and others. */
const WORDS: readonly (readonly [Health, string])[] = [
  ['up', 'up ok pass healthy alive success green'],
  ['degraded', 'degraded warn warning pass-with-warning yellow'],
  ['down', 'down out_of_service unknown error shutting_down fail failed unhealthy critical red'],
];
const MEANINGS: ReadonlyMap<string, Health> = new Map(
  WORDS.flatMap(([health, words]) => words.split(' ').map((word) => [word, health] as const)),
);
const LONGEST_WORD = 32;

/** Returns the health that a body reports. */
function healthIn(body: unknown): Health | undefined {
  const word = isJsonObject(body) ? body['status'] : body;
  return typeof word === 'string' && word.length <= LONGEST_WORD
    ? MEANINGS.get(word.trim().toLowerCase())
    : undefined;
}
