import { PROBE_FAILURES } from '../model/failures.js';
import type { ProbeFinding } from '../model/probe.js';
import type { ComponentMap } from '../model/component.types.js';
import { issuesOf } from './issues.js';
import { recommendationOf } from './recommendations.js';
import { describe } from './reported.js';
import type { InfrastructureDto, IntegrationDto, ServiceDto } from '../model/discovery-result.dto.js';
import type { CheckedComponent, DiscoveryResult, ScanFindings } from '../model/scan.types.js';
import type { Comparison } from './snapshot.js';

/** Builds the response (docs/contract.md, section 3.1). Keys are sorted, so equal platforms give equal responses. */
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

function serviceEntry(checked: CheckedComponent, { name, version, capabilities }: Described): ServiceDto {
  const { endpoint } = checked.component;
  return { name, version, status: checked.outcome.status, endpoint, capabilities, ...checkOf(checked) };
}

function infrastructureEntry(checked: CheckedComponent, { type, version }: Described): InfrastructureDto {
  const { status } = checked.outcome;
  return { type, version, status, ...numbersOf(findingOf(checked)), ...checkOf(checked) };
}

function integrationEntry(checked: CheckedComponent, { name }: Described): IntegrationDto {
  const { endpoint } = checked.component;
  const { buckets } = findingOf(checked);
  const count = buckets === undefined ? {} : { buckets };
  return { name, status: checked.outcome.status, endpoint, ...count, ...checkOf(checked) };
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

function numbersOf({ connections, brokers, topics, memory }: ProbeFinding): Partial<InfrastructureDto> {
  const used = memory && formatBytes(memory.usedBytes);
  const shown = {
    connections,
    brokers,
    topics,
    memory: memory && { used, available: formatBytes(memory.availableBytes) },
  };
  return Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined));
}

const SECOND_MS = 1_000;
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
const STEP = 1_024;

/** Formats a duration: `842ms` below a second, else `2.3s`. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  return whole < SECOND_MS ? `${whole}ms` : `${(whole / SECOND_MS).toFixed(1)}s`;
}

/** Formats a size in binary units with at most one decimal: `943.8KB`, `64MB`, `1.8GB`. */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  // A value that rounds to 1024 of a unit is shown as 1 of the next unit.
  while (Math.round(value * 10) / 10 >= STEP && unit < UNITS.length - 1) {
    value /= STEP;
    unit += 1;
  }
  return `${Math.round(value * 10) / 10}${UNITS[unit] ?? ''}`;
}
