import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';

import { McpSession } from './mcp-session.js';
import { paused } from './shared-work.js';
import type { ConnectWay, McpSessionOptions, Traffic } from './session-transport.js';

const UNDECIDED: ReadonlySet<string> = new Set([
  SdkErrorCode.EraNegotiationFailed,
  SdkErrorCode.RequestTimeout,
]);

const BAD_REQUEST = 400;

/** A session and the way that led to it. */
export interface Connected {
  session: McpSession;
  transport: 'streamable-http' | 'sse';
}

/**
 * Connects to a server of unknown protocol era. Negotiation comes first. The plain 2025 handshake follows when the server
 * cannot cope with a probe: deployed gateways answer 403, 5xx, prose or nothing. HTTP+SSE follows only when POST is answered 404,
 * 405, or 400 without an error of the protocol (MCP 2025-11-25, Backwards Compatibility).
 * @param status receives the HTTP status of every answer
 * @throws what the last attempt threw; where 400 led to HTTP+SSE in vain, what the attempt before it threw
 */
export async function connect(options: McpSessionOptions, status: Traffic): Promise<Connected> {
  let way: ConnectWay = 'auto';
  let badRequest: unknown;
  for (;;) {
    try {
      const session = await McpSession.connect(options, way, status);
      return { session, transport: way === 'sse' ? 'sse' : 'streamable-http' };
    } catch (error) {
      if (await mayAskAgain(way, options, status)) {
        continue;
      }
      const next: ConnectWay | undefined = isOver(way, options, status)
        ? undefined
        : nextWay(way, error, status.latest);
      if (next === undefined) {
        throw badRequest === undefined ? error : forget(status, badRequest);
      }
      badRequest = next === 'sse' && status.latest === BAD_REQUEST ? error : undefined;
      way = next;
    }
  }
}

/** Waits where the server refuses the probe for the moment. */
async function mayAskAgain(way: ConnectWay, options: McpSessionOptions, status: Traffic): Promise<boolean> {
  return way === 'auto' && status.latest === 429 && (await paused(status, options.operation));
}

function isOver(
  way: ConnectWay,
  { operation, credentials }: McpSessionOptions,
  { latest }: Traffic,
): boolean {
  return way === 'sse' || latest === 429 || (operation.failure ?? credentials.failure) !== undefined;
}

/** A server that takes no GET either has refused the POST: that is what its operator must hear of. */
function forget(status: Traffic, badRequest: unknown): unknown {
  status.latest = BAD_REQUEST;
  return badRequest;
}

/** The way to try after a failure, if there is one. */
function nextWay(way: ConnectWay, error: unknown, status: number): ConnectWay | undefined {
  if (status === 404 || status === 405) {
    return 'sse';
  }
  // A time-out of the library is the probe's: nothing else of it has one.
  const isUndecided = error instanceof SdkError && UNDECIDED.has(error.code);
  if (way === 'auto' && (status === 403 || isUndecided)) {
    return 'legacy';
  }
  return status === BAD_REQUEST && !(error instanceof ProtocolError) ? 'sse' : undefined;
}
