const FAILURES = {
  dns: ['not reached'],
  refused: ['not reached'],
  network: [],
  tls: ['not reached'],
  timeout: ['fatal'],
  blocked: ['not reached', 'lasting', 'fatal'],
  port: ['not reached', 'lasting', 'fatal'],
  insecure: ['not reached', 'lasting', 'fatal'],
  proxy: ['not reached'],
  proxy_auth: ['not reached', 'lasting', 'fatal'],
  proxy_refused: ['not reached'],
  redirect: ['lasting', 'fatal'],
  too_large: ['lasting', 'fatal'],
  encoding: ['lasting', 'fatal'],
  protocol: [],
  busy: ['fatal'],
  closed: [],
} as const;

/** Why an outbound call failed. A fixed list that contains no address, DNS result or text from the other party. */
export type OutboundFailure = keyof typeof FAILURES;

const failuresThatAre = (kind: 'not reached' | 'lasting' | 'fatal'): ReadonlySet<OutboundFailure> =>
  new Set(
    Object.entries(FAILURES).flatMap(([failure, kinds]: [string, readonly string[]]) =>
      kinds.includes(kind) ? [failure as OutboundFailure] : [],
    ),
  );

/** Failures before the request reached the server. */
export const NOT_REACHED = failuresThatAre('not reached');
/** Failures that a retry cannot fix. */
export const LASTING = failuresThatAre('lasting');
/** Failures that end the operation, because repeating the call would fail again or do harm. */
export const FATAL = failuresThatAre('fatal');

/** A failed outbound call. It has no `cause`, because driver errors quote addresses and the other party. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  constructor(readonly failure: OutboundFailure) {
    super(`outbound call failed: ${failure}`);
  }
}

const BY_CODE: Readonly<Record<string, OutboundFailure>> = {
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  ESERVFAIL: 'dns',
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'too_large',
  HPE_HEADER_OVERFLOW: 'too_large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'protocol',
  UND_ERR_DESTROYED: 'closed',
  UND_ERR_CLOSED: 'closed',
};

const BY_CODE_PREFIX: readonly (readonly [RegExp, OutboundFailure])[] = [
  [/^EAI_/, 'dns'],
  [/^HPE_/, 'protocol'],
  [
    /^(ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA)/,
    'tls',
  ],
];

const MAX_CAUSES = 8;

/**
 * Classifies an error of `fetch`, a socket or a stream by its code, never by its message.
 * @param error anything thrown; `cause` chains and aggregate errors are followed
 * @returns an existing OutboundError as it is, otherwise a new one; unknown errors are `network`
 */
export function toOutboundError(error: unknown): OutboundError {
  const seen: unknown[] = [error];
  for (let index = 0; index < seen.length && index < MAX_CAUSES; index += 1) {
    const current = seen[index];
    if (current instanceof OutboundError) {
      return current;
    }
    const failure = failureOf(current);
    if (failure !== undefined) {
      return new OutboundError(failure);
    }
    if (current instanceof AggregateError) {
      seen.push(...(current.errors as unknown[]));
    }
    if (current instanceof Error && current.cause !== undefined) {
      seen.push(current.cause);
    }
  }
  return new OutboundError('network');
}

function failureOf(error: unknown): OutboundFailure | undefined {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  if (name === 'HTTPParserError' && code === undefined) {
    return 'protocol';
  }
  if (typeof code !== 'string') {
    return undefined;
  }
  return BY_CODE[code] ?? BY_CODE_PREFIX.find(([pattern]) => pattern.test(code))?.[1];
}
