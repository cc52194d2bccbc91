import { Injectable } from '@nestjs/common';
import type { Component } from '../../model/component.types.js';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import { ProbeError, type ProbeFailure } from '../../model/probe.error.js';
import type { Probe, ProbeContext, ProbeFinding } from '../../model/probe.js';

/** How token endpoints refuse a request without client: by RFC 6749, section 5.2, and in the ways of deployed ones. */
const REFUSALS = new Set([400, 401, 405, 415, 422]);

/**
 * Looks at an OAuth token endpoint by a request that names no client and so cannot succeed. Credentials of the component are
 * never sent, because a scan must not count as attempts to sign in.
 */
@Injectable()
export class TokenEndpointProbe implements Probe {
  readonly kind = 'token-endpoint';

  constructor(private readonly client: ProbeHttpClient) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    const http = this.client.open({ ...component, credentials: null }, context);
    const { status } = await http.post(http.base, { grant_type: 'client_credentials' });
    if (!REFUSALS.has(status)) {
      throw new ProbeError(failureOf(status));
    }
    return { warnings: http.warnings() };
  }
}

/** Whoever has nothing against such a request is no token endpoint. */
function failureOf(status: number): ProbeFailure {
  if (status === 403) {
    return 'forbidden';
  }
  return status < 300 ? 'protocol' : 'http_error';
}
