import { groupedBy } from '#engine/support';
import { byRef, type ComponentRef } from '../model/component.types.js';
import { describe } from './reported.js';
import type { CheckedComponent, ScanIssue } from '../model/scan.types.js';
import type { Snapshot } from './snapshot.js';

/** Share of its timeout above which a check counts as slow. */
const SLOW = 0.5;
/** Returns everything that an operator should act on, in the order of components. */
export function issuesOf(components: readonly CheckedComponent[], snapshot: Snapshot): ScanIssue[] {
  return [
    ...components.flatMap(componentIssues),
    ...sharedEndpoints(components),
    ...versionSkews(components, snapshot),
  ];
}

function componentIssues({ component, outcome, tookMs, timeoutMs }: CheckedComponent): ScanIssue[] {
  const ref = refOf({ component });
  if (outcome.status === 'unhealthy') {
    const { failure, detail } = outcome;
    return [{ code: 'unhealthy', component: ref, failure, detail }];
  }
  const warnings = [...(outcome.finding.warnings ?? [])];
  if (tookMs > SLOW * timeoutMs) {
    warnings.push({ code: 'slow' });
  }
  return warnings.map((warning) => ({ code: 'warning', component: ref, warning, timeoutMs }));
}

/** Finds endpoints with several keys, which are checked repeatedly. Callers may register an endpoint as often as they like. */
function sharedEndpoints(components: readonly CheckedComponent[]): ScanIssue[] {
  const declared = components.filter(({ component }) => component.trust === 'operator');
  const shared = groups(declared, ({ component }) => `${component.kind} ${component.endpoint}`);
  return shared.map((group) => ({ code: 'same_endpoint', components: group.map(refOf) }));
}

/** Finds services with the same name but different versions. They are replicas and should have the same version. */
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
    .map((group) => ({ code: 'version_skew', components: group.map(refOf) }));
}

/** Returns groups of more than one item, each sorted. */
function groups<Item extends { component: ComponentRef }>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Item[][] {
  return [...groupedBy(items, keyOf).values()]
    .filter((group) => group.length > 1)
    .map((group) => group.toSorted((one, other) => byRef(one.component, other.component)));
}

function refOf({ component: { map, key } }: { component: ComponentRef }): ComponentRef {
  return { map, key };
}
