import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ProbeFinding, ProbeWarning } from '../../model/probe.js';

const DAY_MS = 86_400_000;
const WARN_DAYS = 30;

/** Warns when the certificate of the other side ends soon. @param now milliseconds since the epoch */
export function certificateWarnings(socket: Socket | undefined, now: number): ProbeWarning[] {
  return socket instanceof TLSSocket ? endWarnings(socket.getPeerCertificate().valid_to, now) : [];
}

/** Warns when a certificate ends soon. @param validTo as Node.js writes it @param now in milliseconds */
export function endWarnings(validTo: string | undefined, now: number): ProbeWarning[] {
  const until = Date.parse(validTo ?? '');
  const days = Math.floor((until - now) / DAY_MS);
  return Number.isFinite(days) && days < WARN_DAYS ? [{ code: 'certificate_expires', days }] : [];
}

/** Warns when fewer brokers run than the cluster should have. */
export function brokerWarnings(running: number, expected: number): ProbeWarning[] {
  return running < expected ? [{ code: 'broker_down', running, expected }] : [];
}

type Connections = NonNullable<ProbeFinding['connections']>;

const NEARLY = 0.8;

/** Connections of a database, with a warning when four fifths of them are used. */
export function connectionsFinding(connections: Connections): {
  connections: Connections;
  warnings: ProbeWarning[];
} {
  const { active, idle, max } = connections;
  const used = active + idle;
  return {
    connections,
    warnings: used >= max * NEARLY ? [{ code: 'connections_nearly_used', used, max }] : [],
  };
}
