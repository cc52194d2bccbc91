import { McpExchange } from './mcp-exchange.js';
import { McpSession } from './mcp-session.js';
import { paramHeaders } from './param-headers.js';
import type { OpenedSession } from './session-opener.js';
import type { Call } from './tool-caller.js';

/**
 * Sends one `tools/call` and waits for its result. Over HTTP+SSE, where all answers of a session share one stream, the call
 * gets a connection of its own.
 * @returns the raw result
 * @throws what the library throws; see `failureOf`
 */
export function sendCall(call: Call, opened: OpenedSession): Promise<Record<string, unknown>> {
  return opened.transport === 'sse' ? overOwnStream(call) : overSession(call, opened);
}

async function overSession(call: Call, { facts }: OpenedSession): Promise<Record<string, unknown>> {
  const { order, session, operation, credentials, traceparent, traffic } = call;
  const url = new URL(order.baseUrl);
  const exchange = new McpExchange(
    { url, operation, credentials, traceparent },
    { facts, ids: session.ids, traffic, onListChanged: () => session.listChanged() },
  );
  try {
    const headers = facts.isModern ? paramHeaders(order.tool.inputSchema, order.arguments) : {};
    return await exchange.request('tools/call', paramsOf(call), headers);
  } finally {
    await exchange.close();
  }
}

async function overOwnStream(call: Call): Promise<Record<string, unknown>> {
  const { order, operation, credentials, traceparent, traffic } = call;
  const options = { url: new URL(order.baseUrl), operation, credentials, traceparent };
  const session = await McpSession.connect(options, 'sse', traffic);
  traffic.posted = false;
  try {
    return await session.request('tools/call', paramsOf(call));
  } finally {
    await session.close();
  }
}

function paramsOf({ order: { tool, arguments: args } }: Call): Record<string, unknown> {
  return { name: tool.name, arguments: args };
}
