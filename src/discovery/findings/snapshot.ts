import { createHash } from 'node:crypto';
import { canonicalJson } from '../../platform/json/canonical-json.js';
import {
  type Component,
  type ComponentKind,
  type ComponentRef,
  type ComponentStatus,
  refId,
} from '../model/component.types.js';
import { describe, reportedBy, type Reported } from './reported.js';
import type { CheckedComponent, ComponentChange, ProbeOutcome } from '../model/scan.types.js';

/** State of a component kept for the next scan. */
interface SnapshotEntry extends ComponentRef {
  status: ComponentStatus;
  /** SHA-256 of the known facts of the component, without its status, in hexadecimal. */
  fingerprint: string;
  kind: ComponentKind;
  endpoint: string;
  /** Facts that it reported when it was last healthy; null if it never was. */
  reported: Reported | null;
}

/** All components of a completed scan, sorted by map and key. */
export type Snapshot = readonly SnapshotEntry[];

/** Comparison of a scan with the one before it. */
export interface Comparison {
  snapshot: Snapshot;
  /** Services that the previous scan did not find. */
  newServices: number;
  /** Number of components of all maps that changed or were removed. */
  configurationChanges: number;
  /** In the order of components; removed ones come last. */
  changes: ComponentChange[];
}

/**
 * Compares a scan with the last completed one (docs/contract.md, section 3.1). A component that is down counts as unchanged; its first
 * report is not a change.
 * @param previous null before the first scan, in which everything is new
 */
export function compare(previous: Snapshot | null, components: readonly CheckedComponent[]): Comparison {
  const before = new Map((previous ?? []).map((entry) => [refId(entry), entry]));
  const snapshot: SnapshotEntry[] = [];
  const changes: ComponentChange[] = [];
  let changed = 0;
  for (const { component, outcome } of components) {
    const last = before.get(refId(component));
    before.delete(refId(component));
    const entry = entryOf(component, outcome, last);
    snapshot.push(entry);
    // The previous fingerprint may be from before the component first reported anything.
    const now = last?.reported === null ? fingerprint(component, null) : entry.fingerprint;
    const isChanged = last !== undefined && last.fingerprint !== now;
    changed += isChanged ? 1 : 0;
    changes.push(...changesOf(entry, outcome, last, isChanged));
  }
  for (const { map, key } of before.values()) {
    changes.push({ component: { map, key }, event: 'removed', status: null, failure: null });
  }
  const added = changes.filter(({ event, component }) => event === 'added' && component.map === 'services');
  const newServices = added.length;
  return { snapshot, newServices, configurationChanges: changed + before.size, changes };
}

function entryOf(
  component: Component,
  outcome: ProbeOutcome,
  last: SnapshotEntry | undefined,
): SnapshotEntry {
  const { map, key, kind, endpoint } = component;
  // A component at another address, or of another kind, is a different one.
  const remembered = last?.kind === kind && last.endpoint === endpoint ? last.reported : null;
  const reported = outcome.status === 'healthy' ? reportedBy(component, outcome.finding) : remembered;
  const { status } = outcome;
  return { map, key, kind, endpoint, status, reported, fingerprint: fingerprint(component, reported) };
}

function fingerprint(component: Component, reported: Reported | null): string {
  const { kind, endpoint, source, tags } = component;
  const known = { kind, endpoint, source, tags: tags.toSorted(), ...describe(component, reported) };
  return createHash('sha256').update(canonicalJson(known)).digest('hex');
}

function changesOf(
  { map, key, status }: SnapshotEntry,
  outcome: ProbeOutcome,
  last: SnapshotEntry | undefined,
  isChanged: boolean,
): ComponentChange[] {
  const failure = outcome.status === 'unhealthy' ? outcome.failure : null;
  const events: ComponentChange['event'][] =
    last === undefined
      ? ['added']
      : [...(isChanged ? (['changed'] as const) : []), ...(last.status === status ? [] : [status])];
  return events.map((event) => ({ component: { map, key }, event, status, failure }));
}
