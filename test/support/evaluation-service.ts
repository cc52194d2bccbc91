import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Timeout for tests on slow machines. */
const MINUTES_MS = '180000';

const UNLIMITED = {
  'mcpLimits.testTimeoutMs': MINUTES_MS,
  'mcpLimits.syncTimeoutMs': MINUTES_MS,
  'mcpCallLimits.connectTimeoutMs': MINUTES_MS,
  RATE_LIMIT_ADDRESS_PER_MINUTE: '0',
  RATE_LIMIT_PRINCIPAL_PER_MINUTE: '0',
  'httpLimits.connectionTestsPerMinute': '0',
  'httpLimits.rescansPerMinute': '0',
};

/** The built service in evaluation mode, running in its own process. */
export interface EvaluationService {
  url: string;
  /** Environment that lets commands of the same checkout connect to it. */
  env: Record<string, string>;
  /** Returns a bearer token with every permission. */
  token(): Promise<string>;
  /** Stops the process and deletes its data. */
  stop(): Promise<void>;
}

/** Starts the service on a free port, with its own data and without rate limits, and waits until it is ready. */
export async function startEvaluation(settings: Record<string, string> = {}): Promise<EvaluationService> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-evaluation-'));
  const env = { DATA_DIR: folder, PORT: '0', ...UNLIMITED, ...settings };
  const child = spawn(process.execPath, [...LIMITS_LOADER, 'dist/src/evaluation/main.js'], {
    // Evaluation mode brings its own database.
    env: { ...process.env, DATABASE_URL: undefined, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  for (;;) {
    const url = /API documentation +(\S+)\/docs/.exec(output)?.[1];
    if (url !== undefined && output.includes(' Data ')) {
      return { url, env: { ...env, PORT: new URL(url).port }, token: () => tokenOf(folder), stop };
    }
    await Promise.race([once(child.stdout, 'data'), ended]);
    if (child.exitCode !== null) {
      await stop();
      throw new Error(`The service did not start:\n${output}`);
    }
  }
}

async function tokenOf(folder: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['dist/src/evaluation/dev-token.cli.js'], {
    env: { ...process.env, DATA_DIR: folder },
  });
  return stdout.trim();
}

/** Arguments of Node that make a built service read limits from its environment. */
export const LIMITS_LOADER = ['--import', new URL('limits/load-limits.mjs', import.meta.url).href];
