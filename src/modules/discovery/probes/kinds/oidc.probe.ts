import { isJsonObject } from '../../../../common/json.js';
import { Injectable } from '@nestjs/common';
import type { Component } from '../../model/component.types.js';
import { httpUrlOf } from '../http/probe-http.js';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import { capabilitiesOf, known, records } from '../net/self-description.js';
import { ProbeError } from '../../model/failures.js';
import type { Probe, ProbeContext, ProbeFinding } from '../../model/probe.js';

/** Looks at an OpenID Connect issuer: its document names it, and its key set has keys. */
@Injectable()
export class OidcProbe implements Probe {
  readonly kind = 'oidc';

  constructor(private readonly client: ProbeHttpClient) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    const http = this.client.open({ ...component, credentials: null }, context);
    const document = await http.json('/.well-known/openid-configuration');
    if (!isJsonObject(document) || !isSame(document['issuer'], http.base)) {
      throw new ProbeError('protocol');
    }
    const { jwks_uri: keysUrl } = document;
    if (typeof keysUrl !== 'string' || !URL.canParse(keysUrl)) {
      throw new ProbeError('protocol');
    }
    const keySet = await http.json(httpUrlOf(keysUrl));
    const keys = records(isJsonObject(keySet) ? keySet['keys'] : undefined);
    if (keys.length === 0) {
      throw new ProbeError('down');
    }
    return {
      ...known('capabilities', capabilitiesOf(keys.map((key) => key['alg']))),
      warnings: http.warnings(),
    };
  }
}

/** The endpoint of a component has no slash at its end, whatever the issuer calls itself. */
function isSame(issuer: unknown, endpoint: URL): boolean {
  return typeof issuer === 'string' && URL.canParse(issuer) && plain(new URL(issuer)) === plain(endpoint);
}

function plain(url: URL): string {
  return url.href.replace(/\/+$/, '');
}
