import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../common/clock.js';
import type { Component } from '../../model/component.types.js';
import { brokerWarnings } from '../net/broker-warnings.js';
import { countOption } from '../net/component-options.js';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import { connectionWarnings } from '../net/connection-check.js';
import { isRecord, records, wholeNumber } from '../net/json-values.js';
import { ProbeError } from '../../model/probe.error.js';
import type { Probe, ProbeContext, ProbeFinding } from '../../model/probe.js';
import { known, versionOf } from '../net/self-description.js';

const PORT = 4_222;

/**
 * Looks at a NATS cluster: brokers are this server and those it has routes to, topics the JetStream streams. By the
 * monitoring port (http), which knows no accounts. A client port (nats) is only connected to.
 */
@Injectable()
export class NatsProbe implements Probe {
  readonly kind = 'nats';

  constructor(
    private readonly client: ProbeHttpClient,
    private readonly clock: Clock,
  ) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    if (component.endpoint.startsWith('nats:')) {
      const now = this.clock.now().getTime();
      return { type: 'nats', warnings: await connectionWarnings(component, context, { port: PORT }, now) };
    }
    return this.byMonitoring(component, context);
  }

  private async byMonitoring(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    const http = this.client.open(component, context);
    const about = await http.json('/varz');
    if (!isRecord(about) || about['server_id'] === undefined) {
      throw new ProbeError('protocol');
    }
    const routes = await http.json('/routez');
    const streams = await http.json('/jsz');
    if (!isRecord(routes) || !isRecord(streams)) {
      throw new ProbeError('protocol');
    }
    const others = new Set(records(routes['routes'] ?? []).map((route) => route['remote_id']));
    const brokers = 1 + others.size;
    const health = await http.get('/healthz');
    if (health.status >= 500) {
      throw new ProbeError('down');
    }
    return {
      type: 'nats',
      ...known('version', versionOf(about['version'])),
      brokers,
      topics: wholeNumber(streams['streams'] ?? 0),
      warnings: [
        ...brokerWarnings(brokers, countOption(component, 'expectedBrokers') ?? 1),
        ...http.warnings(),
      ],
    };
  }
}
