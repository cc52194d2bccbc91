import type { Component } from './component.types.js';

/** What a probe may rely on while it runs. */
export interface ProbeContext {
  /** Aborted at the deadline of the probe, at the end of the scan and when the service stops. */
  signal: AbortSignal;
  /** Milliseconds from the start of the probe to its deadline, for the driver's own time-outs. */
  timeoutMs: number;
  /** Takes what closes a connection at once; called after the probe, or at its deadline. */
  onEnd: (destroy: () => void) => void;
  /** Notes what needs attention although the component is healthy. The last one of each code counts. */
  warn: (warning: ProbeWarning) => void;
  /** The time, in milliseconds since the epoch. */
  now: () => number;
}

/** A healthy component that still needs somebody's attention. Numbers only, so that no text of the component is shown. */
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

/** What a healthy component says of itself. Counts are whole numbers, sizes bytes. */
export interface ProbeFinding {
  /** First numeric token of what it says is taken; left out when it says none. */
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
  /** What the probe noted with `warn`. */
  warnings?: readonly ProbeWarning[];
}

/**
 * Looks at a component with a real client. Holds no state between calls and keeps no connection open.
 * @throws ProbeError when the component is unhealthy; any other error counts as `internal`
 */
export type Probe = (component: Component, context: ProbeContext) => Promise<ProbeFinding>;
