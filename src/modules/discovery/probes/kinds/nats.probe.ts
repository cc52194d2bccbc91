import { isJsonObject } from '../../../../common/json.js';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../common/clock.js';
import type { Component } from '../../model/component.types.js';
import { brokerWarnings } from '../net/warnings.js';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import { connectionWarnings } from '../net/open-socket.js';
import { known, records, versionOf, wholeNumber } from '../net/self-description.js';
import { ProbeError } from '../../model/failures.js';
import type { Probe, ProbeContext, ProbeFinding } from '../../model/probe.js';

const PORT = 4_222;

/** Looks at a NATS cluster by the monitoring port: servers with routes, and JetStream streams. */
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
    if (!isJsonObject(about) || about['server_id'] === undefined) {
      throw new ProbeError('protocol');
    }
    const routes = await http.json('/routez');
    const streams = await http.json('/jsz');
    if (!isJsonObject(routes) || !isJsonObject(streams)) {
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
      warnings: [...brokerWarnings(brokers, component.options.expectedBrokers ?? 1), ...http.warnings()],
    };
  }
}
