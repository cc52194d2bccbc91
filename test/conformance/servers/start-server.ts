import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { killOnExit, freePort } from '../../support/databases/process-resources.js';
import type { OtherServer } from './server-list.js';

const START_MS = 60_000;
const PAUSE_MS = 50;

/** A server in a process of its own. */
export interface RunningServer {
  url: string;
  output(): string;
  stop(): Promise<void>;
}

/**
 * Starts a server on a free port, in an empty folder, and waits until it answers.
 * @returns what it says where it does not start
 */
export async function startServer(server: OtherServer, folder: string): Promise<RunningServer | string> {
  const port = String(await freePort());
  const [program = '', ...args] = server.command(folder, port);
  const home = await mkdtemp(join(tmpdir(), 'mcp-server-'));
  const child = killOnExit(
    spawn(program, args, {
      cwd: home,
      env: { PATH: process.env['PATH'], HOME: home, ...server.env?.(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const ended = once(child, 'close').catch(() => undefined);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    await rm(home, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}${server.path ?? '/mcp'}`;
  const endsAt = Date.now() + START_MS;
  while (!(await answers(url))) {
    if (child.exitCode !== null || Date.now() > endsAt) {
      await stop();
      return `does not start: ${output.slice(-1_000)}`;
    }
    await sleep(PAUSE_MS);
  }
  return { url, output: () => output, stop };
}

/** A port that is open is not enough: some servers try the port first, and open it anew. */
function answers(url: string): Promise<boolean> {
  return fetch(url, { method: 'OPTIONS', signal: AbortSignal.timeout(1_000) }).then(
    () => true,
    () => false,
  );
}
