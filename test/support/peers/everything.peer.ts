import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { connect, createServer, type AddressInfo } from 'node:net';

const ATTEMPTS = 200;
const PAUSE_MS = 50;

/** A peer in a process of its own. */
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
  await listening(port);
  return {
    url: `http://127.0.0.1:${port}${kind === 'sse' ? '/sse' : '/mcp'}`,
    close: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listening(port: number): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error(`nothing listens on port ${port}`);
}
