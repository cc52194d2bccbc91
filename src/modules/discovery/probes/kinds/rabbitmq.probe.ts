import { isJsonObject } from '../../../../common/json.js';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../common/clock.js';
import type { Component } from '../../model/component.types.js';
import { brokerWarnings } from '../net/warnings.js';
import { connectionWarnings, type SocketScheme } from '../net/open-socket.js';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import type { ProbeHttp } from '../http/probe-http.js';
import { known, records, versionOf, wholeNumber } from '../net/self-description.js';
import { ProbeError } from '../../model/failures.js';
import type { Probe, ProbeContext, ProbeFinding, ProbeWarning } from '../../model/probe.js';

/** Exchanges asked for at once: with names of the greatest length they stay below the limit of an answer. */
const PAGE = 150;
const MAX_PAGES = 200;
const SCHEMES: Readonly<Record<string, SocketScheme>> = {
  amqp: { port: 5_672 },
  amqps: { port: 5_671, isTls: true },
};

/** Looks at a RabbitMQ cluster by its management interface: running nodes and own topic exchanges. */
@Injectable()
export class RabbitmqProbe implements Probe {
  readonly kind = 'rabbitmq';

  constructor(
    private readonly client: ProbeHttpClient,
    private readonly clock: Clock,
  ) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    const amqp = SCHEMES[component.endpoint.split(':', 1)[0] ?? ''];
    if (amqp !== undefined) {
      const now = this.clock.now().getTime();
      return { type: 'rabbitmq', warnings: await connectionWarnings(component, context, amqp, now) };
    }
    const http = this.client.open(component, context);
    const overview = await http.json('/api/overview');
    if (!isJsonObject(overview) || overview['rabbitmq_version'] === undefined) {
      throw new ProbeError('protocol');
    }
    const nodes = records(await nodesOf(http));
    const running = nodes.filter((node) => node['running'] === true).length;
    const expected = component.options.expectedBrokers ?? nodes.length;
    return {
      type: 'rabbitmq',
      ...known('version', versionOf(overview['rabbitmq_version'])),
      brokers: running,
      topics: await topicExchanges(http),
      warnings: [...brokerWarnings(running, expected), ...(await alarms(http)), ...http.warnings()],
    };
  }
}

/** The account is known to be valid: without the tag monitoring the nodes answer 401 all the same. */
async function nodesOf(http: ProbeHttp): Promise<unknown> {
  const answer = await http.get('/api/nodes?columns=name,running');
  if (answer.status === 401) {
    throw new ProbeError('forbidden');
  }
  return answer.expectOk().json();
}

async function topicExchanges(http: ProbeHttp): Promise<number> {
  let topics = 0;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const body = await http.json(`/api/exchanges?page=${page}&page_size=${PAGE}&columns=name,type`);
    const items = records(isJsonObject(body) ? body['items'] : undefined);
    topics += items.filter(
      ({ name, type }) => type === 'topic' && typeof name === 'string' && !name.startsWith('amq.'),
    ).length;
    if (!isJsonObject(body) || page >= wholeNumber(body['page_count'])) {
      break;
    }
  }
  return topics;
}

async function alarms(http: ProbeHttp): Promise<ProbeWarning[]> {
  const { status } = await http.get('/api/health/checks/alarms');
  return status === 503 ? [{ code: 'alarm' }] : [];
}
