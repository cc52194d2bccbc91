import { randomUUID } from 'node:crypto';
import * as pathologies from '../../../test/support/peers/pathologies.js';
import { startHttpPeer, type Peer } from '../../../test/support/peers/peer.js';
import {
  sendResult,
  startListPathology,
  startScriptedMcp,
  startToolListPeer,
} from '../../../test/support/peers/scripted-mcp.peer.js';

/**
 * Runs hostile MCP servers in a separate process, so that their resources are not attributed to the service. Started with
 * fork. The first message contains the URLs by name; every received message is answered with the number of open connections.
 */
const METADATA_SERVICE = 'http://169.254.169.254/latest/meta-data/';
const GOOD_TOOL = { name: 'good', inputSchema: { type: 'object' } };
/** Takes a backtracking matcher years for a text of forty characters. */
const REGEX_BOMB = '^(([a-z])+.)+[A-Z]([a-z])+$';

/** Returns tools that change with every call, so that all of them are compared and stored. */
function changingTools(): object[] {
  return Array.from({ length: 500 }, (_none, index) => ({
    ...GOOD_TOOL,
    name: `changing-${index}`,
    description: randomUUID().repeat(20),
  }));
}

const peers: Record<string, Peer> = {
  'huge, announced': await startListPathology(pathologies.hugeAnswer(true)),
  'huge, chunked': await startListPathology(pathologies.hugeAnswer(false)),
  'huge at once': await startHttpPeer(pathologies.hugeAnswer(false)),
  'gzip bomb': await startListPathology(pathologies.gzipBomb),
  'endless pages': await startScriptedMcp({
    list: ({ id, cursor, response }) => {
      const page = Number(cursor ?? 0);
      const tools = Array.from({ length: 50 }, (_, index) => ({ ...GOOD_TOOL, name: `t${page}-${index}` }));
      sendResult(response, id, { tools, nextCursor: String(page + 1) });
    },
  }),
  'byte a second': await startListPathology(pathologies.dripBody),
  'header byte a second': await startHttpPeer(pathologies.dripHeaders),
  'never answers': await startHttpPeer(pathologies.neverAnswers),
  'redirect to metadata': await startHttpPeer(pathologies.redirectsTo(METADATA_SERVICE)),
  'nested deeply': await startListPathology(pathologies.deepJson),
  'malformed tools': await startToolListPeer([
    GOOD_TOOL,
    null,
    7,
    { name: '' },
    GOOD_TOOL,
    { name: 'no-schema' },
    { name: 'array', inputSchema: [] },
  ]),
  'changing tools': await startScriptedMcp({
    list: ({ id, response }) => sendResult(response, id, { tools: changingTools() }),
  }),
  'regex bomb': await startToolListPeer([
    {
      name: 'bomb',
      inputSchema: {
        type: 'object',
        properties: { x: { type: 'string', pattern: REGEX_BOMB, default: 'a'.repeat(40) } },
        patternProperties: { [REGEX_BOMB]: { const: 'a'.repeat(40) } },
      },
    },
  ]),
};

process.on('message', () => {
  process.send?.(Object.values(peers).reduce((sum, peer) => sum + peer.openSockets(), 0));
});
process.send?.(Object.fromEntries(Object.entries(peers).map(([name, { url }]) => [name, url])));
