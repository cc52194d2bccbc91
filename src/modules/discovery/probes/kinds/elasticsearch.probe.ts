import { isJsonObject } from '../../../../common/json.js';
import { Injectable } from '@nestjs/common';
import type { Component } from '../../model/component.types.js';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import { known, versionOf } from '../net/self-description.js';
import { ProbeError } from '../../model/failures.js';
import type { Probe, ProbeContext, ProbeFinding } from '../../model/probe.js';

/** Looks at an Elasticsearch or OpenSearch cluster. Needs an account with the cluster privilege monitor. */
@Injectable()
export class ElasticsearchProbe implements Probe {
  readonly kind = 'elasticsearch';

  constructor(private readonly client: ProbeHttpClient) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    const http = this.client.open(component, context);
    const root = await http.json('/');
    const version = isJsonObject(root) ? root['version'] : undefined;
    if (!isJsonObject(version)) {
      throw new ProbeError('protocol');
    }
    const health = await http.json('/_cluster/health');
    const status = isJsonObject(health) ? health['status'] : undefined;
    if (status !== 'green' && status !== 'yellow') {
      throw new ProbeError(status === 'red' ? 'down' : 'protocol');
    }
    return {
      type: version['distribution'] === 'opensearch' ? 'opensearch' : 'elasticsearch',
      ...known('version', versionOf(version['number'])),
      warnings: [...(status === 'yellow' ? [{ code: 'degraded' as const }] : []), ...http.warnings()],
    };
  }
}
