import type { Component, ComponentRef, ComponentSourceName, ComponentStatus } from './component.types.js';
import type { DiscoveryResultDto } from './discovery-result.dto.js';
import type { ProbeFailure, SourceFailure } from './failures.js';
import type { ProbeFinding, ProbeWarning } from './probe.js';

/** Outcome of the check of a component. */
export type ProbeOutcome =
  | { status: 'healthy'; finding: ProbeFinding }
  | { status: 'unhealthy'; failure: ProbeFailure; detail: string | null };

/** A component with the result of its check. */
export interface CheckedComponent {
  component: Component;
  outcome: ProbeOutcome;
  checkedAt: Date;
  tookMs: number;
  /** Timeout of the check in milliseconds. */
  timeoutMs: number;
}

/** An issue that an operator should act on. Each becomes exactly one recommendation. */
export type ScanIssue =
  | { code: 'source_failed'; source: ComponentSourceName; failure: SourceFailure; detail: string | null }
  | { code: 'rejected'; source: ComponentSourceName; key: string; reason: string }
  | { code: 'duplicate'; source: ComponentSourceName; component: ComponentRef }
  | { code: 'too_many'; left: number; max: number }
  | { code: 'unhealthy'; component: ComponentRef; failure: ProbeFailure; detail: string | null }
  | { code: 'warning'; component: ComponentRef; warning: ProbeWarning; timeoutMs: number }
  | { code: 'same_endpoint'; components: ComponentRef[] }
  | { code: 'version_skew'; components: ComponentRef[] };

/** Findings of a scan. */
export interface ScanFindings {
  startedAt: Date;
  finishedAt: Date;
  durationMs: number;
  /** Sorted by map, then key. */
  components: CheckedComponent[];
  issues: ScanIssue[];
}

/** Kinds of changes from one scan to the next: a component was added or removed, its facts changed, or its status changed. */
export const CHANGE_EVENTS = ['added', 'removed', 'changed', 'healthy', 'unhealthy'] as const;
export type ChangeEvent = (typeof CHANGE_EVENTS)[number];

/** A change of a component since the previous scan. */
export interface ComponentChange {
  component: ComponentRef;
  event: ChangeEvent;
  /** Status in this scan; null when the component was removed. */
  status: ComponentStatus | null;
  failure: ProbeFailure | null;
}

/** Response to a rescan (docs/contract.md, section 3.1), as it is stored. */
export interface DiscoveryResult extends DiscoveryResultDto {
  /** Applications that have registered external integrations, by component key. Never shown. */
  registered: Record<string, readonly string[]>;
}
