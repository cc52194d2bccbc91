import type { ServerResponse } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { sendEvent, startLegacySse } from '../../../../test/support/peers/legacy-sse.peer.js';
import { type Peer, startHttpPeer } from '../../../../test/support/peers/peer.js';
import { sendResult, startScriptedMcp } from '../../../../test/support/peers/scripted-mcp.peer.js';
import {
  callOf,
  definition,
  stopServices,
  toolCallsService,
} from '../../../../test/support/peers/mcp-services.js';

const WORK = definition('work');
const LISTED = [{ name: 'work', inputSchema: { type: 'object' } }];
const RESULT = { content: [{ type: 'text', text: 'done' }] };
const PERIOD_MS = 50;
/** The work takes longer than the deadline plus the extra second that the service grants its worker. */
const DEADLINE_MS = 3_000;
const WORK_MS = 4_500;

type Report = (progressToken: unknown) => void;
const progress = (progressToken: unknown) => ({
  method: 'notifications/progress',
  params: { progressToken, progress: 1 },
});

/** Reports progress continuously, either endlessly or until `done`. */
function working(report: () => void, done?: () => void): void {
  const timer = setInterval(report, PERIOD_MS);
  timer.unref();
  open.push({ close: () => clearInterval(timer) });
  if (done !== undefined) {
    setTimeout(() => {
      clearInterval(timer);
      done();
    }, WORK_MS);
  }
}
const open: { close(): unknown }[] = [];
const keep = async (starting: Promise<Peer>): Promise<string> => {
  const peer = await starting;
  open.push(peer);
  return peer.url;
};

/** Starts a server of 2025-11-25 whose tool reports progress on the stream of its call or of its session. */
function startReporting(
  where: 'call' | 'session',
  isFinite = true,
  tokenOf = (id: unknown) => id,
): Promise<Peer> {
  let session: ServerResponse | undefined;
  return startScriptedMcp({
    list: ({ id, response }) => sendResult(response, id, { tools: LISTED }),
    stream: (response) => void (session = response),
    call: ({ id, params, response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      const report: Report = (token) => sendEvent(where === 'call' ? response : session!, progress(token));
      const token = tokenOf(params['_meta']?.['progressToken']);
      const done = () => {
        sendEvent(response, { id, result: RESULT });
        response.end();
      };
      working(() => report(token), isFinite ? done : undefined);
    },
  });
}

function startLegacyReporting(): Promise<Peer> {
  return startLegacySse({
    message: (message, { response, stream }) => {
      if (message.method !== 'tools/call') {
        return false;
      }
      response.writeHead(202).end();
      const { params } = message as { params?: { _meta?: { progressToken?: unknown } } };
      working(
        () => sendEvent(stream, progress(params?.['_meta']?.progressToken)),
        () => sendEvent(stream, { id: message.id, result: RESULT }),
      );
      return true;
    },
  });
}

function startModernReporting(): Promise<Peer> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'reporting', version: '1' }, { capabilities: { tools: {} } });
    server.registerTool('work', {}, ({ mcpReq }) => {
      const token = mcpReq['_meta']?.progressToken;
      return new Promise((resolve) => {
        working(
          () => void mcpReq.notify(progress(token)),
          () => resolve({ content: [{ type: 'text', text: 'done' }] }),
        );
      });
    });
    return server;
  });
  const serve = toNodeHandler(handler);
  return startHttpPeer(
    (request, response) => void serve(request as Parameters<typeof serve>[0], response),
    '/mcp',
  );
}

describe('Progress of a tool call', () => {
  const calls = toolCallsService({ TOOL_CHANGE_POLICY: 'accept', 'mcpCallLimits.breakerFailures': '100' });
  const short = toolCallsService({ TOOL_CHANGE_POLICY: 'accept', 'mcpCallLimits.maxTimeoutMs': '4000' });
  beforeAll(async () => {
    // A worker starts with its first job.
    await Promise.all([calls, short].map((each) => each.checkArguments({ text: '{}', schema: {} })));
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()));
  });
  afterAll(stopServices);

  it('extends the call, on each kind of stream', async () => {
    const urls = await Promise.all([
      keep(startReporting('call')),
      keep(startReporting('session')),
      keep(startReporting('call', true, String)),
      keep(startLegacyReporting()),
      keep(startModernReporting()),
    ]);
    const made = urls.map((url) => calls.callTool(callOf(url, WORK, { deadlineMs: DEADLINE_MS })));
    const results = await Promise.all(made);
    expect(results).toEqual(urls.map(() => expect.objectContaining({ outcome: 'answered', text: 'done' })));
  });

  it('does not extend a call beyond mcpCallLimits.maxTimeoutMs', async () => {
    const url = await keep(startReporting('call', false));
    const result = await short.callTool(callOf(url, WORK, { deadlineMs: DEADLINE_MS }));
    expect(result).toMatchObject({ outcome: 'failed', cause: 'timeout', sent: 'maybe' });
  });

  it.each([
    ['of another call', (id: unknown) => Number(id) + 1],
    ['that is invalid', () => ({ $ne: null })],
  ])('extends no call with a token %s', async (_name, tokenOf) => {
    const url = await keep(startReporting('call', false, tokenOf));
    const result = await calls.callTool(callOf(url, WORK, { deadlineMs: 1_000 }));
    expect(result).toMatchObject({ outcome: 'failed', cause: 'timeout' });
  });
});
