import type { Component, ComponentKind } from './component.types.js';

/** What a probe may rely on while it runs. */
export interface ProbeContext {
  /** Aborted at the deadline of the probe, at the end of the scan and when the service stops. */
  signal: AbortSignal;
  /** Milliseconds from the start of the probe to its deadline, for the driver's own time-outs. */
  timeoutMs: number;
  /** Takes what closes a connection at once; called after the probe, or at its deadline. */
  onEnd: (destroy: () => void) => void;
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
  version?: string;
  /** Self-reported name, for services and external integrations. */
  name?: string;
  /** Product, for infrastructure: `mariadb` and not `mysql`, `valkey` and not `redis`. */
  type?: string;
  capabilities?: readonly string[];
  connections?: { active: number; idle: number; max: number };
  brokers?: number;
  topics?: number;
  memory?: { usedBytes: number; availableBytes: number };
  buckets?: number;
  warnings?: readonly ProbeWarning[];
}

/** Looks at components of one kind with a real client. Holds no state between calls and keeps no connection open. */
export interface Probe {
  readonly kind: ComponentKind;
  /** @throws ProbeError when the component is unhealthy; any other error counts as `internal` */
  run(component: Component, context: ProbeContext): Promise<ProbeFinding>;
}
