import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** No test trusts that the machine is fast. */
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

/** The built service in evaluation mode, as a process of its own. */
export interface EvaluationService {
  url: string;
  /** Settings with which commands of the same checkout find it. */
  env: Record<string, string>;
  /** A bearer token with every permission. */
  token(): Promise<string>;
  /** Ends the process, and deletes its data. */
  stop(): Promise<void>;
}

/** Starts it on a free port, with data of its own and without rate limits, and waits until it answers. */
export async function startEvaluation(settings: Record<string, string> = {}): Promise<EvaluationService> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-evaluation-'));
  const env = { DATA_DIR: folder, PORT: '0', ...UNLIMITED, ...settings };
  const child = spawn(process.execPath, [...TAKES_LIMITS, 'dist/src/evaluation/main.js'], {
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
      throw new Error(`the service has not started:\n${output}`);
    }
  }
}

async function tokenOf(folder: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['dist/src/evaluation/dev-token.cli.js'], {
    env: { ...process.env, DATA_DIR: folder },
  });
  return stdout.trim();
}

/** Arguments of Node by which a built service takes limits from its environment: `of-process.mjs`. */
export const TAKES_LIMITS = ['--import', new URL('limits/of-process.mjs', import.meta.url).href];
