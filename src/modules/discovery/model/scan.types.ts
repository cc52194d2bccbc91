import type { Component, ComponentMap, ComponentSourceName } from './component.types.js';
import type { ProbeFailure } from './probe.error.js';
import type { ProbeFinding, ProbeWarning } from './probe.js';
import type { SourceFailure } from './source.error.js';

/** The two values of a component's `status` (docs/contract.md, section 3.1). */
export type ComponentStatus = 'healthy' | 'unhealthy';

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

/** Where a component stands in the answer. */
export interface ComponentRef {
  map: ComponentMap;
  key: string;
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

/** A service of the answer. */
export interface ServiceEntry {
  name: string;
  version: string;
  status: ComponentStatus;
  endpoint: string;
  capabilities: string[];
  lastHealthCheck: string;
  error?: string;
}

/** A part of the infrastructure in the answer. */
export interface InfrastructureEntry {
  type: string;
  version: string;
  status: ComponentStatus;
  lastHealthCheck: string;
  connections?: { active: number; idle: number; max: number };
  brokers?: number;
  topics?: number;
  memory?: { used: string; available: string };
  error?: string;
}

/** An external integration in the answer. */
export interface IntegrationEntry {
  name: string;
  status: ComponentStatus;
  endpoint: string;
  lastHealthCheck: string;
  buckets?: number;
  error?: string;
}

/** What the caller of a rescan reads (docs/contract.md, section 3.1). */
export interface DiscoveryResult {
  scanTimestamp: string;
  totalServices: number;
  healthyServices: number;
  unhealthyServices: number;
  services: Record<string, ServiceEntry>;
  infrastructure: Record<string, InfrastructureEntry>;
  externalIntegrations: Record<string, IntegrationEntry>;
  summary: {
    scanDuration: string;
    newServicesFound: number;
    configurationChanges: number;
    issuesDetected: number;
    recommendations: string[];
  };
  /** Applications that have registered external integrations, by the keys of these. It is stored and never shown. */
  registered: Record<string, readonly string[]>;
}

/** What the sources said at the beginning of a scan. */
export interface SourceReadings {
  /** In the order of the sources. */
  listings: { source: ComponentSourceName; components: readonly Component[] }[];
  issues: ScanIssue[];
}
