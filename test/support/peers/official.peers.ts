import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Peer, startHttpPeer } from './peer.js';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, isListening } from '../databases/process-resources.js';

/** A tool of the modern peer. It returns its `text` argument. */
export interface PeerTool {
  name: string;
  title?: string;
  description?: string;
}

/** A server of protocol 2026-07-28. It also serves 2025 clients without sessions. */
export interface ModernPeer extends Peer {
  /** Current tool list. */
  tools: PeerTool[];
  /** Notifies subscribers that the list has changed. */
  announce(): void;
  /** Number of HTTP requests by MCP method; `unauthorized` counts rejected requests. */
  calls: Map<string, number>;
  /** Received Authorization headers, in order. */
  authorizations: string[];
  /** Received `traceparent` headers, in order. */
  traceparents: string[];
}

/** Checks a bearer token; the modern peer answers 401 if it returns false. */
export type TokenCheck = (token: string | undefined) => boolean;

/**
 * Starts a modern MCP server that uses the official server package.
 * @param tools initial tool list; assign to `peer.tools` to change it
 * @param isAllowed checks the bearer token of each request; by default all requests are allowed
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

/** A tool of a {@link ToolsPeer}. It takes an optional `text`. */
export interface CountedTool {
  description?: string;
  annotations?: { readOnlyHint?: boolean; idempotentHint?: boolean };
  /** Returns the result: a text or an image. Throws to report a tool error. */
  run: (text: string) => string | Uint8Array | Promise<string>;
}

/** An MCP server that uses the official package and records the calls of its tools. */
export interface ToolsPeer extends Peer {
  tools: Record<string, CountedTool>;
  /** Calls in order: the tool name, or `name:text` if a text was given. */
  readonly called: string[];
  readonly traceparents: string[];
  /** `_meta` of the calls, in order. */
  readonly metas: unknown[];
}

/**
 * Starts an MCP server with these tools; assign to `peer.tools` to change them.
 * @param before runs first for each request; returns true if it has answered
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

const ATTEMPTS = 200;
const PAUSE_MS = 50;

/** A peer that runs in its own process. */
export interface ProcessPeer {
  url: string;
  close(): Promise<void>;
}

/**
 * Starts the official `server-everything` (protocol 2025-11-25, 13 tools) as a child process.
 * @param kind `streamableHttp` with MCP sessions on /mcp, or the deprecated `sse` transport on /sse
 * @param wanted port. @default a free one
 */
export async function startEverything(kind: 'streamableHttp' | 'sse', wanted?: number): Promise<ProcessPeer> {
  const program = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  );
  const port = wanted ?? (await freePort());
  const child = spawn(process.execPath, [program, kind], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: 'ignore',
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  for (let attempt = 0; !(await isListening(port)); attempt += 1) {
    if (attempt === ATTEMPTS) {
      throw new Error(`server-everything did not start on port ${port}.`);
    }
    await sleep(PAUSE_MS);
  }
  return {
    url: `http://127.0.0.1:${port}${kind === 'sse' ? '/sse' : '/mcp'}`,
    close: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
