import { Injectable } from '@nestjs/common';
import type { Component } from '../../model/component.types.js';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import { failureOfStatus, ProbeError } from '../../model/failures.js';
import type { Probe, ProbeContext, ProbeFinding } from '../../model/probe.js';

/** How token endpoints refuse a request without client: by RFC 6749, section 5.2, and in the ways of deployed ones. */
const REFUSALS = new Set([400, 401, 405, 415, 422]);

/** Looks at an OAuth token endpoint by a request without client: a scan is no attempt to sign in. */
@Injectable()
export class TokenEndpointProbe implements Probe {
  readonly kind = 'token-endpoint';

  constructor(private readonly client: ProbeHttpClient) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    const http = this.client.open({ ...component, credentials: null }, context);
    const { status } = await http.post(http.base, { grant_type: 'client_credentials' });
    if (!REFUSALS.has(status)) {
      // Whoever has nothing against such a request is no token endpoint.
      throw new ProbeError(failureOfStatus(status) ?? 'protocol');
    }
    return { warnings: http.warnings() };
  }
}
