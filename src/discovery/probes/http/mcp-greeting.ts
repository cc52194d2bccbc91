import { isJsonObject, parsedJson } from '#engine/json';
import { failureOfStatus, ProbeError } from '../../model/failures.js';
import type { HttpAnswer, ProbeHttp } from './probe-http.js';

/** What an MCP server says of itself when it is greeted. */
export interface McpGreeting {
  name?: unknown;
  /** The name for people, which not every server has. */
  title?: unknown;
  version?: unknown;
  capabilities: readonly string[];
}

const ID = 1;
/** The revision that servers of all ages negotiate from. */
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

/** What servers of the older HTTP with SSE answer to POST (revision 2025-06-18, "Backwards Compatibility"). */
const NO_POST = new Set([400, 404, 405]);

/**
 * Greets an MCP server by Streamable HTTP and ends the session it opened, if any. One of HTTP with SSE is known by its first
 * event and says no more of itself.
 * @throws ProbeError `protocol` when it does not answer as one
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
    // Servers that know no end of sessions answer 405, which is as good.
    await http.request(http.base, { method: 'DELETE', headers }).catch(() => undefined);
  }
  const info = isJsonObject(result['serverInfo']) ? result['serverInfo'] : {};
  const capabilities = isJsonObject(result['capabilities']) ? Object.keys(result['capabilities']) : [];
  return { name: info['name'], title: info['title'], version: info['version'], capabilities };
}

/** Whether the first event of a stream names the address for messages. */
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

/** The complete events of a stream that are JSON in one line of data, as those of MCP are. */
function messagesOf(body: string): unknown[] {
  return body
    .split(/\r?\n\r?\n/)
    .slice(0, -1)
    .map((event) => /^data: ?(.*)$/m.exec(event)?.[1] ?? '')
    .map(parsedJson);
}
