import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { startHttpPeer } from '../../../test/support/peers/peer.js';
import { AGENT_TOOLS, toolCall } from './agent-orders.js';
import { countCalls } from './helper-process.js';

/** Runs the MCP server of the orders in a separate process and counts each tool call of each order. */
const ANSWER_MS = 60;

const serve = toNodeHandler(createMcpHandler(buildServer));
const peer = await startHttpPeer((request, response) => {
  void serve(request as Parameters<typeof serve>[0], response);
}, '/mcp');
const count = countCalls(peer.url);

function buildServer(): McpServer {
  const server = new McpServer({ name: 'orders', version: '1.0.0' }, { capabilities: { tools: {} } });
  for (const { name, annotations } of AGENT_TOOLS) {
    const inputSchema = z.object({ order: z.string() });
    server.registerTool(name, { inputSchema, annotations }, async ({ order }) => {
      count(toolCall(order, name));
      await sleep(ANSWER_MS * Math.random());
      return { content: [{ type: 'text', text: `${name} of ${order} is done` }] };
    });
  }
  return server;
}
