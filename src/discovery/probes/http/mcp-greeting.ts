import { isJsonObject, parsedJson } from '#engine/json';
import { failureOfStatus, ProbeError } from '../../model/failures.js';
import type { HttpAnswer, ProbeHttp } from './probe-http.js';

/** Facts that an MCP server reports when it is initialized. */
export interface McpGreeting {
  name?: unknown;
  /** Display name, which not every server has. */
  title?: unknown;
  version?: unknown;
  capabilities: readonly string[];
}

const ID = 1;
/** Protocol revision from which both old and new servers can negotiate. */
const PROTOCOL_VERSION = '2025-06-18';
const INITIALIZE = {
  jsonrpc: '2.0',
  id: ID,
  method: 'initialize',
  params: {
    protocolVersion: PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: 'svc-platform', version: '1.0.0' },
  },
};

/** Statuses with which servers of the older HTTP+SSE transport reject POST (revision 2025-06-18, "Backwards Compatibility"). */
const NO_POST = new Set([400, 404, 405]);

/**
 * Initializes an MCP server over Streamable HTTP, and ends the session if one was opened. An HTTP+SSE server is recognized by its first
 * event and reports no facts.
 * @throws ProbeError `protocol` when it is not an MCP server
 */
export async function greetMcpServer(http: ProbeHttp): Promise<McpGreeting> {
  const answer = await http.request(http.base, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(INITIALIZE),
    isComplete: (body) => messagesOf(body).some(isAnswer),
  });
  if (NO_POST.has(answer.status) && (await offersEvents(http))) {
    return { capabilities: [] };
  }
  const result = resultOf(answer.expectOk());
  const session = answer.header('mcp-session-id');
  if (session !== undefined) {
    const headers = { 'mcp-session-id': session };
    // Servers that do not support ending sessions answer 405, which is fine.
    await http.request(http.base, { method: 'DELETE', headers }).catch(() => undefined);
  }
  const info = isJsonObject(result['serverInfo']) ? result['serverInfo'] : {};
  const capabilities = isJsonObject(result['capabilities']) ? Object.keys(result['capabilities']) : [];
  return { name: info['name'], title: info['title'], version: info['version'], capabilities };
}

/** Returns whether the first event of a stream contains the address for messages. */
async function offersEvents(http: ProbeHttp): Promise<boolean> {
  const answer = await http.request(http.base, {
    method: 'GET',
    headers: { accept: 'text/event-stream' },
    isComplete: (body) => /\r?\n\r?\n/.test(body),
  });
  return (
    failureOfStatus(answer.status) === undefined &&
    isEventStream(answer) &&
    /^event: ?endpoint\r?$/m.test(answer.body)
  );
}

function isEventStream(answer: HttpAnswer): boolean {
  return /^text\/event-stream\b/i.test(answer.header('content-type') ?? '');
}

function resultOf(answer: HttpAnswer): Record<string, unknown> {
  const messages = isEventStream(answer) ? messagesOf(answer.body) : [answer.json()];
  const message = messages.find(isAnswer);
  if (message === undefined || !isJsonObject(message['result'])) {
    throw new ProbeError('protocol');
  }
  return message['result'];
}

function isAnswer(message: unknown): message is Record<string, unknown> {
  return isJsonObject(message) && message['jsonrpc'] === '2.0' && message['id'] === ID;
}

/** Returns the complete events of a stream as JSON. MCP events have one line of data. */
function messagesOf(body: string): unknown[] {
  return body
    .split(/\r?\n\r?\n/)
    .slice(0, -1)
    .map((event) => /^data: ?(.*)$/m.exec(event)?.[1] ?? '')
    .map(parsedJson);
}
