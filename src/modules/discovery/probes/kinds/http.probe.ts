import { Injectable } from '@nestjs/common';
import type { Component } from '../../model/component.types.js';
import { textOption } from '../net/component-options.js';
import { judge } from '../http/health-verdict.js';
import type { HttpAnswer } from '../http/http-answer.js';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import type { ProbeHttp } from '../http/probe-http.js';
import { moreAbout } from '../http/service-details.js';
import { ProbeError } from '../../model/probe.error.js';
import type { Probe, ProbeContext, ProbeFinding } from '../../model/probe.js';
import { describedBy, known, merged, versionOf } from '../net/self-description.js';

/** Where health endpoints usually are: general, Spring Actuator, Kubernetes, Dapr. */
const USUAL_PATHS = ['/health', '/actuator/health', '/healthz', '/readyz', '/v1.0/healthz'];
/** Answers that say "not here". */
const ABSENT = new Set([404, 405, 501]);

interface Found {
  answer: HttpAnswer;
  /** Path below the base; empty for the base itself. */
  at: string;
}

/**
 * Looks at a service by its health endpoint: Spring Actuator, Nest Terminus, health+json, ASP.NET, MicroProfile, Dapr,
 * Kubernetes, or any endpoint that answers 2xx. Options: `healthPath`, and `infoPath` of a document that tells name, version
 * and capabilities, which may be an OpenAPI document.
 */
@Injectable()
export class HttpProbe implements Probe {
  readonly kind = 'http';

  constructor(private readonly client: ProbeHttpClient) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    const path = textOption(component, 'healthPath');
    const infoPath = textOption(component, 'infoPath');
    const http = this.client.open(component, context);
    const { answer, at } =
      path === undefined
        ? await findHealth(http, component.credentials === null)
        : { answer: await http.get(path), at: path };
    const verdict = judge(answer);
    if (verdict.failure !== undefined) {
      throw new ProbeError(verdict.failure);
    }
    const header = versionOf(answer.header('x-app-version'));
    const own = merged([describedBy(verdict.body), known('version', header)]);
    const more = await moreAbout(http, { own, at, answer, infoPath });
    return {
      ...merged([own, more]),
      warnings: [...(verdict.isDegraded ? [{ code: 'degraded' as const }] : []), ...http.warnings()],
    };
  }
}

/**
 * The first usual path that exists and can be read, else the first that exists, else the address itself. Kubernetes and Spring
 * Security refuse paths that they do not know; credentials that were refused once are not tried again.
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
