import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  PROTOCOL_VERSION_META_KEY,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/client';

import { SERVICE_NAME, SERVICE_VERSION } from '../../../common/service-version.js';
import type { SessionFacts } from './session-transport.js';

/** Who this client says it is. */
export const CLIENT_INFO: Implementation = { name: SERVICE_NAME, version: SERVICE_VERSION };

/** What this client says it can do. */
export const CAPABILITIES: ClientCapabilities = {
  extensions: { 'io.modelcontextprotocol/oauth-client-credentials': {} },
};

const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A W3C trace context, or undefined when it is malformed. */
export function checkedTraceparent(traceparent: string | undefined): string | undefined {
  return traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}

/** Parameters with their `_meta`: the trace context (SEP-414) and, since MCP 2026-07-28, who asks. */
export function withEnvelope(
  params: Record<string, unknown>,
  { isModern, protocolVersion }: SessionFacts,
  traceparent: string | undefined,
): Record<string, unknown> {
  const trace = traceparent === undefined ? {} : { [TRACEPARENT_META_KEY]: traceparent };
  if (isModern) {
    const caller = {
      [PROTOCOL_VERSION_META_KEY]: protocolVersion,
      [CLIENT_INFO_META_KEY]: CLIENT_INFO,
      [CLIENT_CAPABILITIES_META_KEY]: CAPABILITIES,
    };
    return { ...params, _meta: { ...trace, ...caller } };
  }
  return traceparent === undefined ? params : { ...params, _meta: trace };
}
