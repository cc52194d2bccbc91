import type { OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import type { McpCredentials } from './mcp-credentials.js';
import type { Traffic } from './session-transport.js';
import type { CallOrder } from './worker.messages.js';
import type { WarmSession } from './warm-session.js';
import { connectionErrorOf } from './failure-cause.js';
import { McpExchange } from './mcp-exchange.js';
import { McpSession } from './mcp-session.js';
import { paramHeaders } from './param-headers.js';
import type { OpenedSession } from './session-opener.js';

/** One call under way. */
export interface Call {
  order: CallOrder;
  session: WarmSession;
  operation: OutboundOperation;
  credentials: McpCredentials;
  traceparent: string | undefined;
  traffic: Traffic;
  startedAt: number;
  /** Hears of each progress that the tool tells. */
  onProgress: () => void;
}

/**
 * Sends one `tools/call` and returns its raw result. Over HTTP+SSE, where all answers share one stream, the
 * call gets its own connection.
 * @throws what the library throws; see `failureOf`
 * @throws ConnectionError when there is no connection for it; nothing of the call was sent then
 */
export function sendCall(call: Call, opened: OpenedSession): Promise<Record<string, unknown>> {
  return opened.transport === 'sse'
    ? overOwnStream(call)
    : call.session.use(opened, () => overSession(call, opened));
}

async function overSession(call: Call, { facts }: OpenedSession): Promise<Record<string, unknown>> {
  const { order, session, operation, credentials, traceparent, traffic } = call;
  const url = new URL(order.baseUrl);
  const exchange = new McpExchange({ url, operation, credentials, traceparent }, { facts, session, traffic });
  try {
    const headers = facts.isModern ? paramHeaders(order.tool.inputSchema, order.arguments) : {};
    return await exchange.request('tools/call', paramsOf(call), { headers, onProgress: call.onProgress });
  } finally {
    await exchange.close();
  }
}

async function overOwnStream(call: Call): Promise<Record<string, unknown>> {
  const { order, operation, credentials, traceparent } = call;
  const traffic: Traffic = { latest: 0 };
  const options = { url: new URL(order.baseUrl), operation, credentials, traceparent };
  const session = await McpSession.connect(options, 'sse', traffic).catch((error: unknown) => {
    throw connectionErrorOf(error, { ...options, status: traffic });
  });
  // Only now: what is sent to connect is nothing of the call.
  call.traffic = Object.assign(traffic, { posted: false, requestStatus: 0 });
  try {
    return await session.request('tools/call', paramsOf(call), call.onProgress);
  } finally {
    await session.close();
  }
}

function paramsOf({ order: { tool, arguments: args } }: Call): Record<string, unknown> {
  return { name: tool.name, arguments: args };
}
