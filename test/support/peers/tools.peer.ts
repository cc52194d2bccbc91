import type { IncomingMessage, ServerResponse } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Peer, startHttpPeer } from './peer.js';

/** A tool of the peer; every tool takes an optional `text`. */
export interface CountedTool {
  description?: string;
  annotations?: { readOnlyHint?: boolean; idempotentHint?: boolean };
  /** What it answers, a text or an image; throws for an error of its own. */
  run: (text: string) => string | Uint8Array | Promise<string>;
}

/** An MCP server of the official package that counts the calls of its tools. */
export interface ToolsPeer extends Peer {
  tools: Record<string, CountedTool>;
  /** Names of called tools, in order, each with the text it was given. */
  readonly called: string[];
  readonly traceparents: string[];
  /** `_meta` of the calls, in order. */
  readonly metas: unknown[];
}

/**
 * Starts it with these tools; assign to `peer.tools` to change them.
 * @param before runs before anything else; true means that it has answered
 */
export async function startToolsPeer(
  tools: Record<string, CountedTool>,
  before: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<ToolsPeer> {
  const state = { tools, called: [] as string[], traceparents: [] as string[], metas: [] as unknown[] };
  const serve = toNodeHandler(createMcpHandler(() => server(state)));
  const peer = await startHttpPeer((request, response) => {
    state.traceparents.push(String(request.headers['traceparent'] ?? ''));
    if (before(request, response)) {
      return;
    }
    void serve(request as Parameters<typeof serve>[0], response);
  }, '/mcp');
  return Object.assign(state, peer);
}

function server({ tools, called, metas }: Pick<ToolsPeer, 'tools' | 'called' | 'metas'>): McpServer {
  const made = new McpServer({ name: 'tools-peer', version: '1' }, { capabilities: { tools: {} } });
  for (const [name, { description = name, annotations, run }] of Object.entries(tools)) {
    made.registerTool(
      name,
      {
        description,
        inputSchema: z.strictObject({ text: z.string().optional() }),
        ...(annotations && { annotations }),
      },
      async ({ text = '' }, { mcpReq: { _meta: meta } }) => {
        metas.push(meta);
        called.push(text === '' ? name : `${name}:${text}`);
        const answer = await run(text);
        return { content: [typeof answer === 'string' ? { type: 'text', text: answer } : pngOf(answer)] };
      },
    );
  }
  return made;
}

function pngOf(bytes: Uint8Array) {
  return { type: 'image' as const, mimeType: 'image/png', data: Buffer.from(bytes).toString('base64') };
}
