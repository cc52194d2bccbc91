import type { ProbeWarning } from '../probe.js';

/** Warns when fewer brokers run than the cluster should have. */
export function brokerWarnings(running: number, expected: number): ProbeWarning[] {
  return running < expected ? [{ code: 'broker_down', running, expected }] : [];
}
