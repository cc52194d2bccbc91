import type {
  ComponentMap,
  DiscoveryResult,
  Infrastructure,
  Integration,
  Service,
} from '../../../../client/src/index.js';
import type { Fact } from '../../parts/facts.js';
import { texts } from '../../texts/texts.js';

const t = texts.platform;

/** Card of a component. */
export interface Card {
  map: ComponentMap;
  key: string;
  name: string;
  status: Service['status'];
  error: string | undefined;
  checkedAt: string;
  facts: readonly Fact[];
}

/** Returns the components of a scan by map, unhealthy ones first. */
export function cardsOf(result: DiscoveryResult): Readonly<Record<ComponentMap, readonly Card[]>> {
  return {
    services: sorted(result.services, (key, one) => card('services', key, one, serviceFacts(one))),
    infrastructure: sorted(result.infrastructure, (key, one) =>
      card('infrastructure', key, one, infrastructureFacts(one)),
    ),
    externalIntegrations: sorted(result.externalIntegrations, (key, one) =>
      card('externalIntegrations', key, one, integrationFacts(one)),
    ),
  };
}

function sorted<One>(
  components: Readonly<Record<string, One>>,
  toCard: (key: string, one: One) => Card,
): readonly Card[] {
  return Object.entries(components)
    .map(([key, one]) => toCard(key, one))
    .toSorted((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name));
}

function rank({ status }: Card): number {
  return status === 'unhealthy' ? 0 : 1;
}

function card(
  map: ComponentMap,
  key: string,
  one: Service | Infrastructure | Integration,
  facts: readonly Fact[],
): Card {
  const name = 'name' in one ? one.name : one.type;
  const { status, error, lastHealthCheck: checkedAt } = one;
  return { map, key, name, status, error, checkedAt, facts };
}

function serviceFacts({ version, endpoint, capabilities }: Service): Fact[] {
  return [
    [t.version, version],
    [t.endpoint, endpoint],
    ...(capabilities.length === 0 ? [] : ([[t.capabilities, capabilities.join(', ')]] as Fact[])),
  ];
}

function infrastructureFacts({
  type,
  version,
  connections,
  brokers,
  topics,
  memory,
}: Infrastructure): Fact[] {
  return [
    [t.type, type],
    [t.version, version],
    ...known(
      t.connections,
      connections && t.connectionCounts(connections.active, connections.idle, connections.max),
    ),
    ...known(t.brokers, brokers),
    ...known(t.topics, topics),
    ...known(t.memory, memory && t.memoryUse(memory.used, memory.available)),
  ];
}

function integrationFacts({ endpoint, buckets }: Integration): Fact[] {
  return [[t.endpoint, endpoint], ...known(t.buckets, buckets)];
}

function known(name: string, value: string | number | undefined): Fact[] {
  return value === undefined ? [] : [[name, value]];
}
