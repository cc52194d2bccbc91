import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';

import { McpSession } from './mcp-session.js';
import type { ConnectWay, McpSessionOptions, Traffic } from './session-transport.js';

const UNDECIDED: ReadonlySet<string> = new Set([
  SdkErrorCode.EraNegotiationFailed,
  SdkErrorCode.RequestTimeout,
]);

/** A session and the way that led to it. */
export interface Connected {
  session: McpSession;
  transport: 'streamable-http' | 'sse';
}

/**
 * Connects to a server of unknown protocol era. Negotiation comes first. The plain 2025 handshake follows when the server
 * cannot cope with a probe: deployed gateways answer 403, 5xx, prose or nothing. HTTP+SSE follows only when POST is answered 404 or 405.
 * @param status receives the HTTP status of every answer
 * @throws what the last attempt threw
 */
export async function connect(options: McpSessionOptions, status: Traffic): Promise<Connected> {
  let way: ConnectWay = 'auto';
  for (;;) {
    try {
      const session = await McpSession.connect(options, way, status);
      return { session, transport: way === 'sse' ? 'sse' : 'streamable-http' };
    } catch (error) {
      const next = nextWay(way, error, { options, status: status.latest });
      if (next === undefined) {
        throw error;
      }
      way = next;
    }
  }
}

function nextWay(
  way: ConnectWay,
  error: unknown,
  { options, status }: { options: McpSessionOptions; status: number },
): ConnectWay | undefined {
  const { operation, credentials } = options;
  if (way === 'sse' || operation.failure !== undefined || credentials?.failure !== undefined) {
    return undefined;
  }
  if (status === 404 || status === 405) {
    return 'sse';
  }
  return way === 'auto' && (status === 403 || isUndecided(error)) ? 'legacy' : undefined;
}

/** A time-out of the library is the probe's: nothing else of it has one. */
function isUndecided(error: unknown): boolean {
  return error instanceof SdkError && UNDECIDED.has(error.code);
}
