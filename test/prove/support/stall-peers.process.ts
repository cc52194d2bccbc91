import { startToolListPeer } from '../../support/peers/scripted-mcp.peer.js';

/**
 * An MCP server whose tools have schemas that are costly to compile and to run, in a process of its own. The first message holds
 * its URL.
 */
const TOOLS = 180;
const PROPERTIES = 100;
const PATTERN = '(?i)[\\pL\\pN\\pS\\pP]*[\\pL\\pN\\pS\\pP]*b?';

const nested = (depth: number): object =>
  depth === 0
    ? { type: 'string', pattern: PATTERN }
    : { anyOf: [nested(depth - 1), { type: 'array', uniqueItems: true, items: nested(depth - 1) }] };
const properties = Object.fromEntries(
  Array.from({ length: PROPERTIES }, (_, index) => [`field${index}`, { type: 'string', pattern: PATTERN }]),
);
const peer = await startToolListPeer(
  Array.from({ length: TOOLS }, (_, index) => ({
    name: `tool-${index}`,
    description: 'x'.repeat(200),
    inputSchema: { type: 'object', properties: { ...properties, deep: nested(5) } },
  })),
);
process.send?.(peer.url);
