import { connectionErrorOf } from './failure-cause.js';
import { McpExchange } from './mcp-exchange.js';
import { McpSession } from './mcp-session.js';
import { paramHeaders } from './param-headers.js';
import type { OpenedSession } from './session-opener.js';
import type { McpSessionOptions, Traffic } from './session-transport.js';
import type { Call } from './call.types.js';

/**
 * Sends one `tools/call` and waits for its result. Over HTTP+SSE, where all answers of a session share one stream, the call
 * gets a connection of its own.
 * @returns the raw result
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
  const session = await connectOwn(options, traffic);
  // Only now: what is sent to connect is nothing of the call.
  call.traffic = Object.assign(traffic, { posted: false, requestStatus: 0 });
  try {
    return await session.request('tools/call', paramsOf(call), call.onProgress);
  } finally {
    await session.close();
  }
}

async function connectOwn(options: McpSessionOptions, status: Traffic): Promise<McpSession> {
  try {
    return await McpSession.connect(options, 'sse', status);
  } catch (error) {
    throw connectionErrorOf(error, { ...options, status });
  }
}

function paramsOf({ order: { tool, arguments: args } }: Call): Record<string, unknown> {
  return { name: tool.name, arguments: args };
}
