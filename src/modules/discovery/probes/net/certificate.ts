import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ProbeWarning } from '../../model/probe.js';

const DAY_MS = 86_400_000;
const WARN_DAYS = 30;

/**
 * Warns when the certificate of the other side ends soon.
 * @param now milliseconds since the epoch
 * @returns nothing for a plain connection
 */
export function certificateWarnings(socket: Socket | undefined, now: number): ProbeWarning[] {
  return socket instanceof TLSSocket ? endWarnings(socket.getPeerCertificate().valid_to, now) : [];
}

/**
 * Warns when a certificate ends soon.
 * @param validTo as Node.js writes it; undefined for none
 * @param now milliseconds since the epoch
 */
export function endWarnings(validTo: string | undefined, now: number): ProbeWarning[] {
  const until = Date.parse(validTo ?? '');
  const days = Math.floor((until - now) / DAY_MS);
  return Number.isFinite(days) && days < WARN_DAYS ? [{ code: 'certificate_expires', days }] : [];
}
