import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from './json.js';

/** Rule of the scripted model (docs/agents.md). The first rule whose conditions all hold applies. */
export interface ModelRule {
  when?: {
    /** Regular expression for the system and user messages. Its named groups are values for the answer. */
    prompt?: string;
    offered?: string[];
    notOffered?: string[];
    /** Regular expressions for the last results of tools. */
    results?: Record<string, string>;
    notCalled?: string[];
  };
  /** Text in addition to the calls. */
  says?: string;
  /** Tools to call. */
  calls?: { tool: string; arguments?: Record<string, Json> }[];
  /** Final answer instead of calls. */
  answers?: Json;
}

const HTTP_OK = 200;
/** Maximum lifetime that the service allows. */
const TOKEN_SECONDS = 86_400;
/** Additional time, so that the service times out first and its error is reported. */
const GRACE_MS = 5_000;

/** The only inherited variables, so that settings in the environment of the tests do not affect the service. */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SystemRoot'];

/** Settings for tests: no tool reviews, and no rate limits, which would never recover while the clock is stopped. */
const SETTINGS = {
  PORT: '0',
  TOOL_CHANGE_POLICY: 'accept',
  RATE_LIMIT_ADDRESS_PER_MINUTE: '0',
  RATE_LIMIT_PRINCIPAL_PER_MINUTE: '0',
};

/** Process of the service in evaluation mode, with an embedded database and a stopped clock. */
export class ServiceProcess {
  private constructor(
    /** Address of its API. */
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly socket: string,
    private readonly timeoutMs: number,
  ) {}

  /**
   * @param home folder of the built service
   * @param startAt initial time of the clock
   * @param settings additional settings of the service
   */
  static async start(
    home: string,
    startAt: string,
    { settings, timeoutMs }: { settings: Record<string, string>; timeoutMs: number },
  ): Promise<ServiceProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-testing-'));
    const child = spawn(process.execPath, [join(home, 'dist/src/evaluation/main.js')], {
      cwd: home,
      env: {
        ...baseEnv(),
        ...SETTINGS,
        DATA_DIR: folder,
        EVALUATION_CLOCK: new Date(startAt).toISOString(),
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const killOnExit = (): boolean => child.kill('SIGKILL');
    process.once('exit', killOnExit);
    child.once('close', () => process.off('exit', killOnExit));
    try {
      const url = await addressOf(child, timeoutMs);
      const { socket } = JSON.parse(await readFile(join(folder, 'evaluation.json'), 'utf8')) as {
        socket: string;
      };
      return new ServiceProcess(url, child, folder, socket, timeoutMs);
    } catch (error) {
      await terminate(child, 0);
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Stops the service, forcibly after the timeout, and deletes its data. */
  async stop(): Promise<void> {
    await terminate(this.child, this.timeoutMs);
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Issues a bearer token that is valid at the time of the service. */
  token(subject: string, permissions: readonly string[] | 'all'): Promise<string> {
    return this.send('POST', '/', { subject, permissions, ttlSeconds: TOKEN_SECONDS });
  }

  /** Waits until no work is due or running. @returns the time of the service */
  settle(): Promise<Date> {
    return this.control('POST', '/settle', { timeoutMs: this.timeoutMs });
  }

  /** Advances the clock from one due job to the next. */
  moveTo(time: Date): Promise<Date> {
    return this.control('POST', '/clock', { to: time.toISOString(), timeoutMs: this.timeoutMs });
  }

  /** Replaces the rules of the scripted model. */
  async script(rules: readonly ModelRule[]): Promise<void> {
    await this.control('PUT', '/model', { model: 'scripted', rules });
  }

  private async control(method: string, path: string, body: object): Promise<Date> {
    const { now } = JSON.parse(await this.send(method, path, body)) as { now: string };
    return new Date(now);
  }

  private send(method: string, path: string, body: object): Promise<string> {
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(this.timeoutMs + GRACE_MS);
      request({ socketPath: this.socket, method, path, signal }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', reject).on('end', () => {
          if (response.statusCode === HTTP_OK) {
            resolve(text);
          } else {
            reject(new Error(text));
          }
        });
      })
        .on('error', reject)
        .end(JSON.stringify(body));
    });
  }
}

/** Returns environment variables for a child process, without any settings. */
export function baseEnv(): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Terminates a process, forcibly after the timeout. */
async function terminate(child: ChildProcess, timeoutMs: number): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const closed = once(child, 'close');
  child.kill(timeoutMs === 0 ? 'SIGKILL' : 'SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  await closed;
  clearTimeout(force);
}

/**
 * Waits for the address, which src/evaluation/main.ts prints on its line "API documentation".
 * @throws Error with its output when it exits or the timeout expires
 */
async function addressOf(child: ChildProcess, timeoutMs: number): Promise<string> {
  const outputs = [child.stdout, child.stderr];
  const watch = new AbortController();
  let printed = '';
  try {
    return await new Promise((resolve, reject) => {
      const fail = (when = ''): void => reject(new Error(`The service did not start${when}:\n${printed}`));
      const look = (chunk: Buffer): void => {
        printed += chunk.toString();
        const url = /API documentation +(\S+)\/docs/.exec(printed)?.[1];
        if (url !== undefined) {
          resolve(url);
        }
      };
      outputs.forEach((output) => output?.on('data', look));
      watch.signal.addEventListener('abort', () => outputs.forEach((output) => output?.off('data', look)));
      const timer = setTimeout(fail, timeoutMs, ` within ${timeoutMs} milliseconds`);
      watch.signal.addEventListener('abort', () => clearTimeout(timer));
      child.once('error', reject).once('close', () => fail());
    });
  } finally {
    watch.abort();
    // Drains the output, which would block the service otherwise.
    outputs.forEach((output) => output?.resume());
  }
}
