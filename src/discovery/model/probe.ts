import type { Component } from './component.types.js';

/** Context of a running probe. */
export interface ProbeContext {
  /** Aborted at the deadline of the probe, at the end of the scan and when the service stops. */
  signal: AbortSignal;
  /** Milliseconds from the start of the probe to its deadline, for timeouts of the driver. */
  timeoutMs: number;
  /** Registers a function that closes a connection immediately. It is called after the probe, or at its deadline. */
  onEnd: (destroy: () => void) => void;
  /** Reports a warning about a healthy component. The last one of each code counts. */
  warn: (warning: ProbeWarning) => void;
  /** The time, in milliseconds since the epoch. */
  now: () => number;
}

/** A warning about a healthy component. Contains no text of the component. */
export type ProbeWarning =
  | { code: 'degraded' }
  | { code: 'connections_nearly_used'; used: number; max: number }
  | { code: 'memory_nearly_used'; percent: number }
  | { code: 'memory_unlimited' }
  | { code: 'broker_down'; running: number; expected: number }
  | { code: 'under_replicated'; partitions: number }
  | { code: 'alarm' }
  | { code: 'certificate_expires'; days: number }
  | { code: 'clock_differs'; seconds: number }
  | { code: 'plain_http' }
  | { code: 'slow' }
  | { code: 'privilege_missing'; privilege: string };

/** Facts that a healthy component reports. Counts are whole numbers, sizes are bytes. */
export interface ProbeFinding {
  /** Text with the version, of which the first number is used; absent if it reports none. */
  version?: string | undefined;
  /** Self-reported name, for services and external integrations. */
  name?: string | undefined;
  /** Product, for infrastructure: `mariadb` and not `mysql`, `valkey` and not `redis`. */
  type?: string;
  capabilities?: readonly string[] | undefined;
  connections?: { active: number; idle: number; max: number };
  brokers?: number;
  topics?: number;
  memory?: { usedBytes: number; availableBytes: number };
  buckets?: number;
  /** Warnings reported with `warn`. */
  warnings?: readonly ProbeWarning[];
}

/**
 * Checks a component with a real client. Holds no state between calls and keeps no connection open.
 * @throws ProbeError when the component is unhealthy; any other error counts as `internal`
 */
export type Probe = (component: Component, context: ProbeContext) => Promise<ProbeFinding>;
