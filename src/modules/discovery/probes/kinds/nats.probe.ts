import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../common/clock.js';
import type { Component } from '../../model/component.types.js';
import { brokerWarnings } from '../broker/broker-warnings.js';
import { connected, readUntil } from '../net/read-bytes.js';
import { addressesOf, countOption, requireOperator } from '../net/component-options.js';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import { isRecord, records, wholeNumber } from '../net/json-values.js';
import { certificateWarnings } from '../net/certificate.js';
import { beginTls, openSocket } from '../net/open-socket.js';
import { ProbeError } from '../../model/probe.error.js';
import { toProbeError } from '../net/probe-failure.js';
import type { Probe, ProbeContext, ProbeFinding } from '../../model/probe.js';
import { known, versionOf } from '../net/self-description.js';

const PORT = 4_222;

/**
 * Looks at a NATS cluster: brokers are this server and those it has routes to, topics the JetStream streams. By the
 * monitoring port (http), which knows no accounts; by its greeting (nats) it says its version, and that it is alone if
 * it is.
 */
@Injectable()
export class NatsProbe implements Probe {
  readonly kind = 'nats';

  constructor(
    private readonly client: ProbeHttpClient,
    private readonly clock: Clock,
  ) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    return component.endpoint.startsWith('nats:')
      ? byGreeting(component, context, this.clock.now().getTime())
      : this.byMonitoring(component, context);
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

async function byGreeting(component: Component, context: ProbeContext, now: number): Promise<ProbeFinding> {
  requireOperator(component);
  const [server] = addressesOf(component, PORT).servers;
  try {
    const socket = openSocket(server, context);
    await connected(socket, 'connect');
    const info = await readUntil(socket, parseInfo);
    return {
      type: 'nats',
      ...known('version', versionOf(info['version'])),
      ...(info['cluster'] === undefined ? { brokers: 1 } : {}),
      warnings:
        info['tls_required'] === true
          ? certificateWarnings(await beginTls(socket, server.host, context), now)
          : [],
    };
  } catch (error) {
    throw toProbeError(error, context.signal);
  }
}

/** The first line of the server: `INFO {...}`. */
function parseInfo(bytes: Buffer): Record<string, unknown> | undefined {
  const text = bytes.toString('utf8');
  if (!text.startsWith('INFO '.slice(0, text.length))) {
    throw new ProbeError('protocol');
  }
  if (!text.includes('\r\n')) {
    return undefined;
  }
  const info = parsed(text.slice('INFO '.length, text.indexOf('\r\n')));
  if (!isRecord(info)) {
    throw new ProbeError('protocol');
  }
  return info;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ProbeError('protocol');
  }
}
