import type { IncomingMessage, ServerResponse } from 'node:http';

import { afterAll, describe, expect, it } from 'vitest';

import { CONNECTION_WARNINGS } from '../../../src/systems/mcp-connection/model/connection-test.types.js';
import {
  connectionService,
  noAuth,
  callOf,
  definition,
  stopServices,
  toolCallsService,
} from '../../support/peers/mcp-services.js';
import { type Peer, readBody, startHttpPeer } from '../../support/peers/peer.js';
import { keptPeers } from '../../support/peers/kept-peers.js';

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
const LOOSE_INFO = { name: 'loose', version: 1, title: null, icons: [{ href: 'x' }], vendor: 'x' };
const LOOSE_CAPABILITIES = { tools: { listChanged: null }, logging: null, prompts: [], tasks: { list: 1 } };
const TOOLS = { tools: [{ name: 'work', inputSchema: { type: 'object' } }], nextCursor: null };

interface Asked {
  id?: unknown;
  method: string;
}
type Answer = { id?: unknown; result?: unknown; error?: unknown } | undefined;

/** Returns the answers of a server that adds null and unknown members. */
function loose(revision: string): (asked: Asked) => Answer {
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: revision,
      capabilities: LOOSE_CAPABILITIES,
      serverInfo: LOOSE_INFO,
      instructions: null,
    },
    'tools/list': TOOLS,
    'tools/call': { content: [{ type: 'text', text: 'done' }], structuredContent: null, isError: null },
  };
  if (revision === '2026-07-28') {
    results['server/discover'] = {
      resultType: 'complete',
      supportedVersions: [revision, null],
      capabilities: LOOSE_CAPABILITIES,
      instructions: 7,
      _meta: { [SERVER_INFO]: LOOSE_INFO },
    };
  }
  return ({ method }) => {
    const result = results[method];
    return result === undefined
      ? { result: null, error: { code: -32_601, message: null, hint: 'x' } }
      : { error: null, result: { _meta: null, ...result } };
  };
}

type Way = 'JSON' | 'an event stream' | 'HTTP+SSE';

/** Starts a server that answers in the given way, with unknown members in each message. */
async function startLoose(way: Way, answerTo: (asked: Asked) => Answer): Promise<Peer> {
  let stream: ServerResponse | undefined;
  const peer = await startHttpPeer((request, response) => {
    if (request.method === 'POST' && (way !== 'HTTP+SSE' || request.url === '/messages')) {
      void answer(request, response);
    } else if (request.method === 'GET' && way === 'HTTP+SSE') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.write('event: endpoint\r\ndata: /messages\r\n\r\n');
    } else {
      response.writeHead(405).end();
    }
  }, '/mcp');
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = JSON.parse(await readBody(request)) as Asked;
    const message = { jsonrpc: '2.0', id: asked.id, method: null, trace: 'x', ...answerTo(asked) };
    if (asked.id === undefined || way === 'HTTP+SSE') {
      response.writeHead(202).end();
    }
    if (asked.id === undefined) {
      return;
    }
    if (way === 'JSON') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
    } else {
      const to = stream ?? response.writeHead(200, { 'content-type': 'text/event-stream' });
      await sendInPieces(to, message);
      if (way === 'an event stream') {
        response.end();
      }
    }
  }
  return peer;
}

/** Sends a notification with nulls, then the message over several lines, in pieces of a few bytes. */
async function sendInPieces(stream: ServerResponse, message: object): Promise<void> {
  const notice = { jsonrpc: '2.0', id: null, method: 'notifications/message', params: null, error: null };
  const lines = JSON.stringify(message, undefined, 1).split('\n');
  const events = [
    `: hello\r\ndata:${JSON.stringify(notice)}\r\n\r\n`,
    ...lines.map((line) => `data: ${line}\r\n`),
    'id: ä1\r\n\r\n',
  ];
  const bytes = Buffer.from(events.join(''));
  for (let at = 0; at < bytes.length; at += 7) {
    await new Promise<void>((sent) => {
      stream.write(bytes.subarray(at, at + 7), () => sent());
    });
  }
}

describe('A server that adds null and unknown members', () => {
  const tests = connectionService();
  const calls = toolCallsService();
  const keep = keptPeers();
  const start = async (way: Way, answerTo: (asked: Asked) => Answer): Promise<string> => {
    const peer = await keep(startLoose(way, answerTo));
    return peer.url;
  };
  afterAll(stopServices);

  it.each([
    ['2025-11-25', 'JSON'],
    ['2025-11-25', 'an event stream'],
    ['2024-11-05', 'HTTP+SSE'],
    ['2026-07-28', 'JSON'],
    ['2026-07-28', 'an event stream'],
  ] as const)('is understood in revision %s by %s', async (protocolVersion, way) => {
    const url = await start(way, loose(protocolVersion));
    await expect(tests.test(noAuth(url))).resolves.toMatchObject({
      outcome: 'connected',
      protocolVersion,
      server: { name: 'loose', version: '', title: null, description: '' },
      capabilities: expect.arrayContaining(['prompts', 'tools']),
      tools: [{ name: 'work' }],
    });
    await expect(calls.callTool(callOf(url, definition('work')))).resolves.toMatchObject({
      outcome: 'answered',
      isError: false,
      text: 'done',
    });
  });

  it.each([
    ['description', 2_000, []],
    ['description', 2_001, [CONNECTION_WARNINGS.identityCut]],
    ['title', 256, [CONNECTION_WARNINGS.identityCut]],
    ['name', 256, [CONNECTION_WARNINGS.identityCut]],
  ])(
    'has its %s of %i characters truncated with a warning if it is too long',
    async (member, length, warnings) => {
      const url = await start('JSON', ({ method }) =>
        method === 'initialize'
          ? {
              result: {
                protocolVersion: '2025-11-25',
                capabilities: { tools: {} },
                serverInfo: { name: 'wordy', version: '1', [member]: 'x'.repeat(length) },
              },
            }
          : loose('2025-11-25')({ method }),
      );
      await expect(tests.test(noAuth(url))).resolves.toMatchObject({
        server: { [member]: 'x'.repeat(member === 'description' ? 2_000 : 255) },
        warnings,
      });
    },
  );

  it.each([
    [TOOLS, []],
    [{ tools: [] }, [CONNECTION_WARNINGS.noTools]],
  ])('that declares no tools and lists %o causes the warnings %o', async (tools, warnings) => {
    const url = await start('JSON', ({ method }) =>
      method === 'initialize'
        ? { result: { protocolVersion: '2025-11-25', capabilities: { tools: null } } }
        : method === 'tools/list'
          ? { result: tools }
          : loose('2025-11-25')({ method }),
    );
    await expect(tests.test(noAuth(url))).resolves.toMatchObject({ tools: tools.tools, warnings });
  });

  it.each(['2025-11-25', '2026-07-28'])(
    'is understood in revision %s with ids as strings',
    async (revision) => {
      const url = await start('JSON', (asked) => ({ id: String(asked.id), ...loose(revision)(asked) }));
      await expect(tests.test(noAuth(url))).resolves.toMatchObject({
        outcome: 'connected',
        server: { title: null },
      });
      const call = callOf(url, definition('work'));
      await expect(calls.callTool(call)).resolves.toMatchObject({ text: 'done' });
    },
  );

  const answers = loose('2025-11-25');
  const failing: [string, string, (asked: Asked) => Answer][] = [
    [
      'another version',
      'unsupported_version',
      ({ method }) => ({
        result: {
          ...(method === 'initialize'
            ? { protocolVersion: '2099-01-01' }
            : { supportedVersions: ['2099-01-01'] }),
          capabilities: {},
          serverInfo: { name: 'new', version: '1' },
        },
      }),
    ],
    [
      'only newer versions, and no `initialize`',
      'unsupported_version',
      ({ method }) =>
        method === 'server/discover'
          ? { result: { supportedVersions: ['2020-01-01'], capabilities: {} } }
          : { error: { code: -32_601, message: 'no' } },
    ],
    [
      'no version',
      'no_version',
      ({ method }) => (method === 'initialize' ? { result: { capabilities: {} } } : answers({ method })),
    ],
    [
      'an invalid result',
      'invalid_message',
      ({ method }) => (method === 'tools/list' ? { result: 'none' } : answers({ method })),
    ],
    [
      'an error without an id',
      'mcp_error',
      ({ method }) =>
        method === 'tools/list' ? { id: null, error: { code: 1, message: 'CANARY' } } : answers({ method }),
    ],
  ];
  it.each(
    failing.flatMap(([name, cause, answerTo]) =>
      (['JSON', 'an event stream'] as const).map((way) => [name, way, cause, answerTo] as const),
    ),
  )('that answers with %s by %s fails the test with a cause', async (_name, way, cause, answerTo) => {
    const url = await start(way, answerTo);
    await expect(tests.test(noAuth(url))).resolves.toEqual({
      outcome: 'unreachable',
      cause,
      latencyMs: expect.any(Number),
    });
  });
});
