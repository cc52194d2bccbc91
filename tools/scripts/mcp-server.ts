import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { isListening } from '../../test/support/databases/process-resources.js';

/**
 * Starts the official MCP sample server `server-everything` over Streamable HTTP, prints its URL once it accepts
 * connections, and stops it with Ctrl-C. The server has no authentication and listens on all addresses of the machine.
 *
 *     npm run dev:mcp-server                 on port 3001
 *     MCP_PORT=3301 npm run dev:mcp-server   on another port
 */
const POLL_MS = 100;
const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const USAGE_ERROR = 2;

const port = Number(process.env['MCP_PORT'] ?? '3001');
if (!Number.isInteger(port) || port < 1 || port > 65_535) {
  console.error('MCP_PORT must be a port number from 1 to 65535');
  process.exit(USAGE_ERROR);
}
if (await isListening(port)) {
  console.error(`Port ${port} is taken. Choose another one with MCP_PORT.`);
  process.exit(1);
}
const program = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);
const server = spawn(process.execPath, [program, 'streamableHttp'], {
  env: { PATH: process.env['PATH'], PORT: String(port) },
  stdio: ['ignore', 'ignore', 'inherit'],
});
let isStopping = false;
for (const signal of STOP_SIGNALS) {
  process.on(signal, () => {
    isStopping = true;
    server.kill('SIGTERM');
  });
}
server.once('exit', (code) => process.exit(isStopping ? 0 : (code ?? 1)));
while (!(await isListening(port))) {
  await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
console.log(`MCP server: http://127.0.0.1:${port}/mcp (Ctrl-C stops it)`);
