import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

import { type Peer, startHttpPeer } from './peer.js';

/** A tool of the modern peer; it answers with its own arguments. */
export interface PeerTool {
  name: string;
  title?: string;
  description?: string;
}

/** A server of protocol 2026-07-28 (it serves 2025 clients too, stateless). */
export interface ModernPeer extends Peer {
  /** What is listed from now on. */
  tools: PeerTool[];
  /** Tells subscribers that the list has changed. */
  announce(): void;
  /** HTTP requests so far by MCP method; `unauthorized` counts those that were refused. */
  calls: Map<string, number>;
  /** The Authorization headers seen, in order. */
  authorizations: string[];
  /** Trace contexts seen in headers. */
  traceparents: string[];
}

/** How the modern peer judges a bearer token; false answers 401. */
export type TokenCheck = (token: string | undefined) => boolean;

/**
 * Starts a modern MCP server made of the official server package.
 * @param tools first tool list; assign to `peer.tools` to change it at run time
 * @param isAllowed judges the bearer token of each request; without it anybody may call
 */
export async function startModernPeer(tools: PeerTool[], isAllowed?: TokenCheck): Promise<ModernPeer> {
  const state: Omit<ModernPeer, keyof Peer> = {
    tools,
    announce: () => handler.notify.toolsChanged(),
    calls: new Map<string, number>(),
    authorizations: [],
    traceparents: [],
  };
  const handler = createMcpHandler(() => buildServer(state.tools));
  const serve = toNodeHandler(handler);
  const peer = await startHttpPeer((request, response) => {
    const { authorization } = request.headers;
    state.authorizations.push(authorization ?? '');
    state.traceparents.push(String(request.headers['traceparent'] ?? ''));
    const method = String(request.headers['mcp-method'] ?? request.method);
    if (isAllowed !== undefined && !isAllowed(authorization?.replace(/^Bearer /, ''))) {
      count(state.calls, 'unauthorized');
      response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
      return;
    }
    count(state.calls, method);
    void serve(request as Parameters<typeof serve>[0], response);
  }, '/mcp');
  return Object.assign(state, peer);
}

function buildServer(tools: PeerTool[]): McpServer {
  const server = new McpServer(
    { name: 'modern-peer', version: '1.2.3', title: 'Modern Peer' },
    { instructions: 'Answers what it is asked.', capabilities: { tools: {} } },
  );
  for (const { name, title, description } of tools) {
    server.registerTool(
      name,
      {
        ...(title && { title }),
        ...(description && { description }),
        inputSchema: z.object({ text: z.string() }),
      },
      ({ text }) => ({ content: [{ type: 'text', text }] }),
    );
  }
  return server;
}

function count(calls: Map<string, number>, method: string): void {
  calls.set(method, (calls.get(method) ?? 0) + 1);
}
