import type { Component, ComponentRef, ComponentSourceName, ComponentStatus } from './component.types.js';
import type { DiscoveryResultDto } from './discovery-result.dto.js';
import type { ProbeFailure, SourceFailure } from './failures.js';
import type { ProbeFinding, ProbeWarning } from './probe.js';

/** How a check of one component ended. */
export type ProbeOutcome =
  | { status: 'healthy'; finding: ProbeFinding }
  | { status: 'unhealthy'; failure: ProbeFailure; detail: string | null };

/** A component with what its check found. */
export interface CheckedComponent {
  component: Component;
  outcome: ProbeOutcome;
  checkedAt: Date;
  tookMs: number;
  /** Milliseconds the check might have taken. */
  timeoutMs: number;
}

/** Something that an operator should do something about. Each becomes exactly one recommendation. */
export type ScanIssue =
  | { code: 'source_failed'; source: ComponentSourceName; failure: SourceFailure; detail: string | null }
  | { code: 'rejected'; source: ComponentSourceName; key: string; reason: string }
  | { code: 'duplicate'; source: ComponentSourceName; component: ComponentRef }
  | { code: 'too_many'; left: number; max: number }
  | { code: 'unhealthy'; component: ComponentRef; failure: ProbeFailure; detail: string | null }
  | { code: 'warning'; component: ComponentRef; warning: ProbeWarning; timeoutMs: number }
  | { code: 'same_endpoint'; components: ComponentRef[] }
  | { code: 'version_skew'; components: ComponentRef[] };

/** What one scan saw. */
export interface ScanFindings {
  startedAt: Date;
  finishedAt: Date;
  durationMs: number;
  /** Sorted by map, then key. */
  components: CheckedComponent[];
  issues: ScanIssue[];
}

/** A change of a component from one scan to the next: it came or went, its facts changed, or its status changed. */
export const CHANGE_EVENTS = ['added', 'removed', 'changed', 'healthy', 'unhealthy'] as const;
export type ChangeEvent = (typeof CHANGE_EVENTS)[number];

/** One thing that a scan found different from the scan before it. */
export interface ComponentChange {
  component: ComponentRef;
  event: ChangeEvent;
  /** In this scan; null when the component is gone. */
  status: ComponentStatus | null;
  failure: ProbeFailure | null;
}

/** What the caller of a rescan reads (docs/contract.md, section 3.1), as it is stored. */
export interface DiscoveryResult extends DiscoveryResultDto {
  /** Applications that have registered external integrations, by the keys of these. Never shown. */
  registered: Record<string, readonly string[]>;
}
