import * as pathologies from '../../../../test/support/peers/pathologies.js';
import { startHttpPeer } from '../../../../test/support/peers/peer.js';
import { startListPathology, startScriptedMcp } from '../../../../test/support/peers/scripted-mcp.peer.js';

/**
 * Runs hostile servers in a separate process, so that their resources are not attributed to the service. Started with fork;
 * its only message is the list of their URLs.
 */
const listeners = [
  pathologies.hugeAnswer(true),
  pathologies.hugeAnswer(false),
  pathologies.gzipBomb,
  pathologies.dripBody,
  pathologies.neverAnswers,
  pathologies.commentsOnly,
  pathologies.hugeEvent,
  pathologies.resets,
  pathologies.deepJson,
  pathologies.denseJson,
  pathologies.webPage,
];

/** Starts a server with valid tool lists of maximum size on every page: the most expensive response. */
function fullPages(): ReturnType<typeof startScriptedMcp> {
  const filler = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`p${i}`, {}])),
  };
  return startScriptedMcp({
    list: ({ id, cursor, response }) => {
      const page = Number(cursor ?? 0);
      const tools = Array.from({ length: 300 }, (_, index) => ({
        name: `t${page}-${index}`,
        inputSchema: filler,
      }));
      const text = JSON.stringify({ jsonrpc: '2.0', id, result: { tools, nextCursor: String(page + 1) } });
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    },
  });
}

const peers = await Promise.all([
  ...listeners.map((listener) => startHttpPeer(listener)),
  ...listeners.map((listener) => startListPathology(listener)),
  fullPages(),
]);
process.send?.(peers.map(({ url }) => url));
