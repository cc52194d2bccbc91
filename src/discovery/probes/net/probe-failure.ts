import { type OutboundFailure, toOutboundError } from '../../../platform/outbound/outbound.error.js';
import { ProbeError, type ProbeFailure } from '../../model/failures.js';

/** Failures of calls that have another name here. */
const RENAMED: Partial<Record<OutboundFailure, ProbeFailure>> = {
  port: 'blocked',
  insecure: 'blocked',
  proxy: 'network',
  proxy_auth: 'network',
  proxy_refused: 'network',
  encoding: 'protocol',
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
  const known = codes[code];
  if (known !== undefined) {
    return new ProbeError(known);
  }
  if (signal.aborted) {
    return new ProbeError('timeout');
  }
  const isDefect = DEFECTS.some((type) => error instanceof type);
  if (isDefect && code === '' && (error as Error).cause === undefined) {
    return new ProbeError('internal');
  }
  const { failure } = toOutboundError(error);
  return new ProbeError(RENAMED[failure] ?? (failure as ProbeFailure));
}

function codeOf(error: unknown): string {
  return String(((error ?? {}) as { code?: string | number }).code ?? '');
}
