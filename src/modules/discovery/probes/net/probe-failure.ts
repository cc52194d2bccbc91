import { type OutboundFailure, toOutboundError } from '../../../../common/outbound/outbound.error.js';
import { ProbeError, type ProbeFailure } from '../../model/probe.error.js';

const BY_OUTBOUND: Readonly<Record<OutboundFailure, ProbeFailure>> = {
  dns: 'dns',
  refused: 'refused',
  network: 'network',
  tls: 'tls',
  timeout: 'timeout',
  blocked: 'blocked',
  port: 'blocked',
  insecure: 'blocked',
  proxy: 'network',
  proxy_auth: 'network',
  proxy_refused: 'network',
  redirect: 'redirect',
  too_large: 'too_large',
  encoding: 'protocol',
  protocol: 'protocol',
  busy: 'internal',
  closed: 'timeout',
};

/** Defects of ours: whatever a network or a driver throws has another type or carries a code. */
const DEFECTS = [TypeError, ReferenceError, RangeError, SyntaxError];

/**
 * Turns what a client or a driver threw into the failure of a probe. Judged by error code, never by text: the messages
 * of drivers quote addresses, and some of them credentials.
 * @param signal of the probe: what is thrown after it was aborted is a consequence of that
 * @param codes what the codes of one driver mean; asked before the codes of sockets
 */
export function toProbeError(
  error: unknown,
  signal: AbortSignal,
  codes: Readonly<Record<string, ProbeFailure>> = {},
): ProbeError {
  if (error instanceof ProbeError) {
    return error;
  }
  const code = codeOf(error);
  const failure = code === undefined ? undefined : codes[code];
  if (failure !== undefined) {
    return new ProbeError(failure);
  }
  if (signal.aborted) {
    return new ProbeError('timeout');
  }
  const isDefect = DEFECTS.some((type) => error instanceof type);
  if (isDefect && code === undefined && (error as Error).cause === undefined) {
    return new ProbeError('internal');
  }
  return new ProbeError(BY_OUTBOUND[toOutboundError(error).failure]);
}

function codeOf(error: unknown): string | undefined {
  const code = ((error ?? {}) as { code?: unknown }).code;
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined;
}
