import { brokersOf } from '../net/warnings.js';
import { connectOnly } from '../net/open-socket.js';
import type { ProbeOfKind } from '../http/probe-clients.js';
import type { ProbeHttp } from '../http/probe-http.js';
import { records, versionOf, wholeNumber } from '../net/self-description.js';
import { ProbeError } from '../../model/failures.js';

/** Exchanges per page: even with names of maximum length a page stays below the response limit. */
const PAGE = 150;
const MAX_PAGES = 200;
const AMQP_PORTS: Readonly<Record<string, number>> = { amqp: 5_672, amqps: 5_671 };

/** Checks a RabbitMQ cluster by its management API: running nodes, and topic exchanges except built-in ones. */
export const probeRabbitmq: ProbeOfKind = async (component, context, clients) => {
  const [scheme = ''] = component.endpoint.split(':', 1);
  const port = AMQP_PORTS[scheme];
  if (port !== undefined) {
    await connectOnly(component, context, port, scheme === 'amqps');
    return { type: 'rabbitmq' };
  }
  const http = clients.open(component, context);
  const overview = await http.object('/api/overview');
  if (overview['rabbitmq_version'] === undefined) {
    throw new ProbeError('protocol');
  }
  const nodes = records(await nodesOf(http));
  const running = nodes.filter((node) => node['running'] === true).length;
  const topics = await topicExchanges(http);
  if ((await http.get('/api/health/checks/alarms')).status === 503) {
    context.warn({ code: 'alarm' });
  }
  return {
    type: 'rabbitmq',
    version: versionOf(overview['rabbitmq_version']),
    brokers: brokersOf(running, component.options.expectedBrokers ?? nodes.length, context),
    topics,
  };
};

/** Lists the nodes. The account is known to be valid, but without the tag `monitoring` the API answers 401 here. */
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
    const body = await http.object(`/api/exchanges?page=${page}&page_size=${PAGE}&columns=name,type`);
    topics += records(body['items']).filter(
      ({ name, type }) => type === 'topic' && typeof name === 'string' && !name.startsWith('amq.'),
    ).length;
    if (page >= wholeNumber(body['page_count'])) {
      break;
    }
  }
  return topics;
}

const NATS_PORT = 4_222;

/** Checks a NATS cluster by its monitoring port: servers with routes, and JetStream streams. */
export const probeNats: ProbeOfKind = async (component, context, clients) => {
  if (component.endpoint.startsWith('nats:')) {
    await connectOnly(component, context, NATS_PORT);
    return { type: 'nats' };
  }
  const http = clients.open(component, context);
  const about = await http.object('/varz');
  if (about['server_id'] === undefined) {
    throw new ProbeError('protocol');
  }
  const routes = await http.object('/routez');
  const streams = await http.object('/jsz');
  const others = new Set(records(routes['routes'] ?? []).map((route) => route['remote_id']));
  if ((await http.get('/healthz')).status >= 500) {
    throw new ProbeError('down');
  }
  return {
    type: 'nats',
    version: versionOf(about['version']),
    brokers: brokersOf(1 + others.size, component.options.expectedBrokers ?? 1, context),
    topics: wholeNumber(streams['streams'] ?? 0),
  };
};
