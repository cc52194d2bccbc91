import {
  InsufficientScopeError,
  ProtocolError,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/client';

import type { OutboundFailure } from '../../../platform/outbound/outbound.error.js';
import type { OutboundOperation } from '../../../platform/outbound/outbound.operation.js';
import type { ConnectionFailureCause } from '../model/connection-failure.types.js';
import { ConnectionError } from './connection.error.js';
import type { McpCredentials } from './mcp-credentials.js';
import { STREAM_ENDED, type Traffic } from './session-transport.js';

/** Facts about a failed test in addition to the error. */
interface FailureContext {
  operation: OutboundOperation;
  credentials: McpCredentials;
  status: Traffic;
}

/** Maps an error to a cause by type and code, never by text. The first certain fact wins. */
export function connectionErrorOf(error: unknown, context: FailureContext): ConnectionError {
  const { credentials, status } = context;
  const verdict = error instanceof ConnectionError ? error : credentials.failure;
  const cause = verdict?.failure ?? causeOf(error, context);
  const refusedFor = cause === 'rate_limited' ? status.retryAfterMs : undefined;
  return new ConnectionError(cause, verdict?.retryAfterMs ?? refusedFor);
}

function causeOf(error: unknown, context: FailureContext): ConnectionFailureCause {
  const { operation, status } = context;
  if (operation.signal.aborted) {
    return abortCause(context);
  }
  const { problem } = operation.failure === undefined ? status : {};
  return (
    protocolCause(error, status) ??
    BY_STATUS[status.latest] ??
    (status.latest >= 400 ? 'http_error' : undefined) ??
    problem ??
    outboundCause(operation.failure?.failure)
  );
}

/** Returns the cause of an abort. A deadline that expires while waiting for a token is a timeout of the token endpoint. */
function abortCause({ operation, credentials }: FailureContext): ConnectionFailureCause {
  const cause = outboundCause(operation.failure?.failure);
  return cause === 'timeout' && credentials.waiting > 0 ? 'token_timeout' : cause;
}

function protocolCause(error: unknown, { problem }: Traffic): ConnectionFailureCause | undefined {
  if (error instanceof InsufficientScopeError) {
    return 'forbidden';
  }
  if (error instanceof UnsupportedProtocolVersionError) {
    return 'unsupported_version';
  }
  if (error instanceof ProtocolError) {
    return problem ?? (error.code === STREAM_ENDED ? 'network' : 'mcp_error');
  }
  return undefined;
}

const BY_STATUS: Readonly<Record<number, ConnectionFailureCause>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_mcp',
  405: 'not_mcp',
  429: 'rate_limited',
};

function outboundCause(failure: OutboundFailure | undefined): ConnectionFailureCause {
  switch (failure) {
    case undefined:
      return 'not_mcp';
    case 'busy':
      return 'overloaded';
    case 'closed':
      return 'timeout';
    default:
      return failure;
  }
}
