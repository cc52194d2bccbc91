import { PROBE_FAILURES } from '../model/probe.error.js';
import type { ProbeFinding } from '../model/probe.js';
import type { ComponentMap } from '../model/component.types.js';
import { formatBytes, formatDuration } from './formats.js';
import { issuesOf } from './issues.js';
import { recommendationOf } from './recommendations.js';
import { describe } from './reported.js';
import type {
  CheckedComponent,
  DiscoveryResult,
  InfrastructureEntry,
  IntegrationEntry,
  ScanFindings,
  ServiceEntry,
} from '../model/scan.types.js';
import type { Comparison } from './snapshot.js';

/** Puts the answer together (docs/contract.md, section 3.1; keys sorted, so equal platforms give equal answers). */
export function answerOf(findings: ScanFindings, comparison: Comparison): DiscoveryResult {
  const { components } = findings;
  const issues = [...findings.issues, ...issuesOf(components, comparison.snapshot)];
  const services = mapOf('services', findings, comparison, serviceEntry);
  const healthy = Object.values(services).filter(({ status }) => status === 'healthy').length;
  const total = Object.keys(services).length;
  return {
    scanTimestamp: findings.finishedAt.toISOString(),
    totalServices: total,
    healthyServices: healthy,
    unhealthyServices: total - healthy,
    services,
    infrastructure: mapOf('infrastructure', findings, comparison, infrastructureEntry),
    externalIntegrations: mapOf('externalIntegrations', findings, comparison, integrationEntry),
    summary: {
      scanDuration: formatDuration(findings.durationMs),
      newServicesFound: comparison.newServices,
      configurationChanges: comparison.configurationChanges,
      issuesDetected: issues.length,
      recommendations: issues.map(recommendationOf).toSorted(),
    },
    registered: Object.fromEntries(
      components.flatMap(({ component: { key, apps } }) => (apps === undefined ? [] : [[key, [...apps]]])),
    ),
  };
}

type Described = ReturnType<typeof describe>;

function mapOf<Entry>(
  map: ComponentMap,
  { components }: ScanFindings,
  { snapshot }: Comparison,
  toEntry: (checked: CheckedComponent, described: Described) => Entry,
): Record<string, Entry> {
  return Object.fromEntries(
    components.flatMap((checked, index) => {
      const { component } = checked;
      return component.map === map
        ? [[component.key, toEntry(checked, describe(component, snapshot[index]?.reported ?? null))]]
        : [];
    }),
  );
}

function serviceEntry(checked: CheckedComponent, { name, version, capabilities }: Described): ServiceEntry {
  const { endpoint } = checked.component;
  return { name, version, status: checked.outcome.status, endpoint, capabilities, ...checkOf(checked) };
}

function infrastructureEntry(checked: CheckedComponent, { type, version }: Described): InfrastructureEntry {
  const { status } = checked.outcome;
  return { type, version, status, ...numbersOf(findingOf(checked)), ...checkOf(checked) };
}

function integrationEntry(checked: CheckedComponent, { name }: Described): IntegrationEntry {
  const buckets = count(findingOf(checked).buckets);
  return {
    name,
    status: checked.outcome.status,
    endpoint: checked.component.endpoint,
    ...(buckets === undefined ? {} : { buckets }),
    ...checkOf(checked),
  };
}

function checkOf({ outcome, checkedAt }: CheckedComponent): { lastHealthCheck: string; error?: string } {
  return {
    lastHealthCheck: checkedAt.toISOString(),
    ...(outcome.status === 'unhealthy' ? { error: PROBE_FAILURES[outcome.failure] } : {}),
  };
}

function findingOf({ outcome }: CheckedComponent): ProbeFinding {
  return outcome.status === 'healthy' ? outcome.finding : {};
}

function numbersOf({ connections, brokers, topics, memory }: ProbeFinding): Partial<InfrastructureEntry> {
  return {
    ...(connections === undefined
      ? {}
      : {
          connections: {
            active: count(connections.active) ?? 0,
            idle: count(connections.idle) ?? 0,
            max: count(connections.max) ?? 0,
          },
        }),
    ...(count(brokers) === undefined ? {} : { brokers: count(brokers) }),
    ...(count(topics) === undefined ? {} : { topics: count(topics) }),
    ...(memory === undefined
      ? {}
      : {
          memory: {
            used: formatBytes(memory.usedBytes),
            available: formatBytes(memory.availableBytes),
          },
        }),
  } as Partial<InfrastructureEntry>;
}

/** A count that can be shown; undefined for anything that is none. */
function count(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? Math.max(0, Math.round(value)) : undefined;
}
