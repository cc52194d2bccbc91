import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';

import { McpSession } from './mcp-session.js';
import { paused } from './rate-limit.js';
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
      const next = nextWay(way, error, { options, status: status.latest });
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

function nextWay(
  way: ConnectWay,
  error: unknown,
  { options, status }: { options: McpSessionOptions; status: number },
): ConnectWay | undefined {
  if (way === 'sse' || status === 429 || isOver(options)) {
    return undefined;
  }
  if (status === 404 || status === 405) {
    return 'sse';
  }
  const isProbe = way === 'auto' && (status === 403 || isUndecided(error));
  return isProbe ? 'legacy' : afterRefusal(error, status);
}

function afterRefusal(error: unknown, status: number): ConnectWay | undefined {
  return status === BAD_REQUEST && !(error instanceof ProtocolError) ? 'sse' : undefined;
}

/** A server that takes no GET either has refused the POST: that is what its operator must hear of. */
function forget(status: Traffic, badRequest: unknown): unknown {
  status.latest = BAD_REQUEST;
  return badRequest;
}

function isOver({ operation, credentials }: McpSessionOptions): boolean {
  return operation.failure !== undefined || credentials?.failure !== undefined;
}

/** A time-out of the library is the probe's: nothing else of it has one. */
function isUndecided(error: unknown): boolean {
  return error instanceof SdkError && UNDECIDED.has(error.code);
}
