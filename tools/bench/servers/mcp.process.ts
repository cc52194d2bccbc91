import { createServer } from 'node:http';
import { startModernPeer } from '../../../test/support/peers/official.peers.js';
import { readBody } from '../../../test/support/peers/peer.js';

/**
 * MCP server of protocol 2026-07-28 with one tool that echoes. KIND `official` uses the official server package; `bare`
 * returns the same responses from `node:http`, so that little more than the client is measured.
 */
const ECHO = {
  name: 'echo',
  title: 'Echo',
  description: 'Echoes.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

interface Message {
  id: number;
  method: string;
  params: { arguments?: { text: string } };
}

if (process.env['KIND'] === 'official') {
  const { url } = await startModernPeer([{ name: 'echo', title: 'Echo', description: 'Echoes.' }]);
  process.send?.({ port: Number(new URL(url).port) });
} else {
  startBare();
}

function startBare(): void {
  const server = createServer((request, response) => {
    void readBody(request).then((body) => response.end(answerTo(JSON.parse(body) as Message)));
    response.setHeader('content-type', 'application/json');
  });
  server.listen(0, '127.0.0.1', () => process.send?.(server.address() ?? {}));
}

function answerTo({ id, method, params }: Message): string {
  const result = {
    'server/discover': {
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      serverInfo: { name: 'bare', version: '1' },
    },
    'tools/list': { tools: [ECHO] },
    'tools/call': { content: [{ type: 'text', text: params.arguments?.text }] },
  }[method];
  const complete = { ...result, resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  return JSON.stringify({ jsonrpc: '2.0', id, result: complete });
}
