import type { ProbeWarning } from '../model/probe.js';
import { byRef } from '../model/component-ref.js';
import { describe } from './reported.js';
import type { CheckedComponent, ScanIssue } from '../model/scan.types.js';
import type { Snapshot } from './snapshot.js';

/** Part of its time from which on an answer is slow. */
const SLOW = 0.5;
/** Warnings of one component that are told. */
const MAX_WARNINGS = 20;

/** What an operator should look at, in the order of components. */
export function issuesOf(components: readonly CheckedComponent[], snapshot: Snapshot): ScanIssue[] {
  return [
    ...components.flatMap(componentIssues),
    ...sharedEndpoints(components),
    ...versionSkews(components, snapshot),
  ];
}

function componentIssues({ component, outcome, tookMs, timeoutMs }: CheckedComponent): ScanIssue[] {
  const ref = { map: component.map, key: component.key };
  if (outcome.status === 'unhealthy') {
    const { failure, detail } = outcome;
    return [{ code: 'unhealthy', component: ref, failure, detail }];
  }
  const told = outcome.finding.warnings ?? [];
  const isSlow = tookMs > SLOW * timeoutMs && !told.some(({ code }) => code === 'slow');
  const warnings: ProbeWarning[] = [
    ...told,
    ...(isSlow ? [{ code: 'slow', milliseconds: Math.round(tookMs) } as const] : []),
  ];
  return distinct(warnings)
    .slice(0, MAX_WARNINGS)
    .map((warning) => ({ code: 'warning', component: ref, warning, timeoutMs }));
}

function distinct(warnings: readonly ProbeWarning[]): ProbeWarning[] {
  return [...new Map(warnings.map((warning) => [sortOf(warning), warning])).values()];
}

/** A component has one warning of a sort; a missing privilege is a sort of its own. */
function sortOf(warning: ProbeWarning): string {
  return warning.code === 'privilege_missing' ? `${warning.code} ${warning.privilege}` : warning.code;
}

/** One endpoint under several keys is looked at several times. Callers may register one as often as they like. */
function sharedEndpoints(components: readonly CheckedComponent[]): ScanIssue[] {
  const declared = components.filter(({ component }) => component.trust === 'operator');
  return groups(declared, ({ component }) => `${component.kind} ${component.endpoint}`).map((group) => ({
    code: 'same_endpoint',
    components: group.map(({ component: { map, key } }) => ({ map, key })),
  }));
}

/** Services that a source calls by one name are replicas of one, and should be of one version. */
function versionSkews(components: readonly CheckedComponent[], snapshot: Snapshot): ScanIssue[] {
  const named = components
    .map(({ component }, index) => ({
      component,
      version: describe(component, snapshot[index]?.reported ?? null).version,
    }))
    .filter(
      ({ component, version }) => component.map === 'services' && component.isNamed && version !== 'unknown',
    );
  return groups(named, ({ component }) => component.name)
    .filter((group) => new Set(group.map(({ version }) => version)).size > 1)
    .map((group) => ({
      code: 'version_skew',
      components: group.map(({ component: { map, key } }) => ({ map, key })),
    }));
}

/** Groups of more than one, each sorted. */
function groups<Item extends { component: { map: CheckedComponent['component']['map']; key: string } }>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Item[][] {
  const found = new Map<string, Item[]>();
  for (const item of items) {
    found.set(keyOf(item), [...(found.get(keyOf(item)) ?? []), item]);
  }
  return [...found.values()]
    .filter((group) => group.length > 1)
    .map((group) => group.toSorted((one, other) => byRef(one.component, other.component)));
}
