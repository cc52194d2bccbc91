import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ProbeWarning } from '../probe.js';

const DAY_MS = 86_400_000;
const WARN_DAYS = 30;

/**
 * Warns when the certificate of the other side ends soon.
 * @param now milliseconds since the epoch
 * @returns nothing for a plain connection
 */
export function certificateWarnings(socket: Socket | undefined, now: number): ProbeWarning[] {
  if (!(socket instanceof TLSSocket)) {
    return [];
  }
  const until = Date.parse(socket.getPeerCertificate().valid_to ?? '');
  const days = Math.floor((until - now) / DAY_MS);
  return Number.isFinite(days) && days < WARN_DAYS ? [{ code: 'certificate_expires', days }] : [];
}
