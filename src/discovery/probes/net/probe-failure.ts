import { type OutboundFailure, toOutboundError } from '../../../platform/outbound/outbound.error.js';
import { ProbeError, type ProbeFailure } from '../../model/failures.js';

/** Failures of outbound calls with a different name here. */
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

/** Types of errors that indicate bugs. Errors of networks and drivers have other types or a code. */
const DEFECTS = [TypeError, ReferenceError, RangeError, SyntaxError];

/**
 * Converts an error of a client or driver into the failure of a probe. Uses error codes, never messages, because drivers quote addresses
 * and sometimes credentials in them.
 * @param signal signal of the probe; errors after its abort are consequences of the abort
 * @param codes failures by error code of a driver; they take precedence over codes of sockets
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
