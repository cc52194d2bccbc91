import type { ProbeContext, ProbeFinding } from '../../model/probe.js';

const DAY_MS = 86_400_000;
const WARN_DAYS = 30;

/** Warns when a certificate expires soon. @param validTo in the format of Node.js; undefined without a certificate */
export function warnOfCertificate(validTo: string | undefined, { warn, now }: ProbeContext): void {
  const days = Math.floor((Date.parse(validTo ?? '') - now()) / DAY_MS);
  if (days < WARN_DAYS) {
    warn({ code: 'certificate_expires', days });
  }
}

/** Returns the number of running brokers, and warns when the cluster should have more. */
export function brokersOf(running: number, expected: number, { warn }: ProbeContext): number {
  if (running < expected) {
    warn({ code: 'broker_down', running, expected });
  }
  return running;
}

type Connections = NonNullable<ProbeFinding['connections']>;

const NEARLY = 0.8;

/** Returns the connections of a database, and warns when four fifths of them are used. */
export function connectionsOf(connections: Connections, { warn }: ProbeContext): Connections {
  const { active, idle, max } = connections;
  const used = active + idle;
  if (used >= max * NEARLY) {
    warn({ code: 'connections_nearly_used', used, max });
  }
  return connections;
}
