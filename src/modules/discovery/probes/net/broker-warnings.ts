import type { ProbeWarning } from '../../model/probe.js';

/** Warns when fewer brokers run than the cluster should have. */
export function brokerWarnings(running: number, expected: number): ProbeWarning[] {
  return running < expected ? [{ code: 'broker_down', running, expected }] : [];
}
