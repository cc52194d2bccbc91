import {
  InsufficientScopeError,
  ProtocolError,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/client';

import type { OutboundFailure } from '../../../common/outbound/outbound.error.js';
import type { OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import type { ConnectionFailureCause } from '../model/connection-failure.types.js';
import { ConnectionError } from './connection.error.js';
import type { McpCredentials } from './mcp-credentials.types.js';
import { STREAM_ENDED } from './mcp-http.transport.js';
import type { Traffic } from './session-transport.js';

/** What is known about a failed test besides the error itself. */
export interface FailureContext {
  operation: OutboundOperation;
  credentials: McpCredentials | undefined;
  status: Traffic;
}

/**
 * Translates a failure into a cause, by type and code, never by text: messages of the library quote the server.
 * The first fact that is certain wins: our own verdicts, the token, the call, the protocol, the HTTP status.
 */
export function connectionErrorOf(error: unknown, context: FailureContext): ConnectionError {
  const { credentials, status } = context;
  const verdict = error instanceof ConnectionError ? error : credentials?.failure;
  const cause = verdict?.failure ?? causeOf(error, context);
  const refusedFor = cause === 'rate_limited' ? status.retryAfterMs : undefined;
  return new ConnectionError(cause, verdict?.retryAfterMs ?? refusedFor);
}

function causeOf(error: unknown, context: FailureContext): ConnectionFailureCause {
  const { operation, status } = context;
  if (operation.signal.aborted) {
    return abortCause(context);
  }
  return protocolCause(error, status) ?? statusCause(status.latest) ?? contentCause(context);
}

/** A deadline that passes while a token is awaited is the token endpoint's. */
function abortCause({ operation, credentials }: FailureContext): ConnectionFailureCause {
  const cause = outboundCause(operation.failure?.failure);
  return cause === 'timeout' && credentials?.isWaiting === true ? 'token_timeout' : cause;
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

function statusCause(status: number): ConnectionFailureCause | undefined {
  switch (status) {
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
    case 405:
      return 'not_mcp';
    case 429:
      return 'rate_limited';
    default:
      return status >= 400 ? 'http_error' : undefined;
  }
}

/** What is wrong with the answer, where nothing else went wrong. */
function contentCause({ operation, status }: FailureContext): ConnectionFailureCause {
  const failure = operation.failure?.failure;
  return failure === undefined ? (status.problem ?? 'not_mcp') : outboundCause(failure);
}

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
