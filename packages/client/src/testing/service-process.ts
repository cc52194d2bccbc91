import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from './json.js';

/** When the scripted model answers what, as in docs/agents.md: the first rule whose conditions all hold. */
export interface ModelRule {
  when?: {
    /** Regular expression that the system and user messages match; its named groups are values. */
    prompt?: string;
    offered?: string[];
    notOffered?: string[];
    /** Regular expressions that the last answers of tools match. */
    results?: Record<string, string>;
    notCalled?: string[];
  };
  /** A text beside the calls. */
  says?: string;
  /** Tools to call. */
  calls?: { tool: string; arguments?: Record<string, Json> }[];
  /** The final answer instead of calls. */
  answers?: Json;
}

const HTTP_OK = 200;
/** Longest that the service allows. */
const TOKEN_SECONDS = 86_400;
/** Beyond what the service waits itself, so that its reason is told and not ours. */
const GRACE_MS = 5_000;

/** Of the surroundings the service gets these alone: settings of the one who tests are none of its own. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SystemRoot'];

/** What leaves the service undisturbed in tests; it is fast since its clock stands still. */
const SETTINGS = {
  PORT: '0',
  TOOL_CHANGE_POLICY: 'accept',
  RATE_LIMIT_ADDRESS_PER_MINUTE: '0',
  RATE_LIMIT_PRINCIPAL_PER_MINUTE: '0',
};

/** The service in evaluation mode as a process of its own, with an embedded database and a clock that stands still. */
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
   * @param startAt date and time at which its clock stands
   * @param settings variables of the service on top of those that a test needs
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
        ...surroundings(),
        ...SETTINGS,
        DATA_DIR: folder,
        EVALUATION_CLOCK: new Date(startAt).toISOString(),
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const endWithUs = (): boolean => child.kill('SIGKILL');
    process.once('exit', endWithUs);
    child.once('close', () => process.off('exit', endWithUs));
    try {
      const url = await addressOf(child, timeoutMs);
      const { socket } = JSON.parse(await readFile(join(folder, 'evaluation.json'), 'utf8')) as {
        socket: string;
      };
      return new ServiceProcess(url, child, folder, socket, timeoutMs);
    } catch (error) {
      await ended(child, 0);
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Ends it, by force where it takes too long, and deletes its data. */
  async stop(): Promise<void> {
    await ended(this.child, this.timeoutMs);
    await rm(this.folder, { recursive: true, force: true });
  }

  /** A bearer token, good at the time of the service. @param permissions everything without them */
  token(subject: string, permissions: readonly string[] | 'all'): Promise<string> {
    return this.ask('POST', '/', { subject, permissions, ttlSeconds: TOKEN_SECONDS });
  }

  /** Waits until nothing is due and nothing is at work. @returns what the time is */
  settle(): Promise<Date> {
    return this.control('POST', '/settle', { timeoutMs: this.timeoutMs });
  }

  /** Moves the clock, from one due job to the next. */
  moveTo(time: Date): Promise<Date> {
    return this.control('POST', '/clock', { to: time.toISOString(), timeoutMs: this.timeoutMs });
  }

  /** Gives the model other lines. */
  async script(rules: readonly ModelRule[]): Promise<void> {
    await this.control('PUT', '/model', { model: 'scripted', rules });
  }

  private async control(method: string, path: string, body: object): Promise<Date> {
    const { now } = JSON.parse(await this.ask(method, path, body)) as { now: string };
    return new Date(now);
  }

  private ask(method: string, path: string, body: object): Promise<string> {
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

/** Variables for a process that has nothing of our settings. */
export function surroundings(): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Asks a process to end, and makes it end after so many milliseconds. */
async function ended(child: ChildProcess, timeoutMs: number): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const closed = once(child, 'close');
  child.kill(timeoutMs === 0 ? 'SIGKILL' : 'SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  await closed;
  clearTimeout(force);
}

/** @throws Error with all that it has printed when it does not listen in time, or ends before */
async function addressOf(child: ChildProcess, timeoutMs: number): Promise<string> {
  const outputs = [child.stdout, child.stderr];
  const watch = new AbortController();
  let printed = '';
  try {
    return await new Promise((resolve, reject) => {
      const fail = (when = ''): void => reject(new Error(`The service has not started${when}:\n${printed}`));
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
    // Read on, or the service would wait for room to print.
    outputs.forEach((output) => output?.resume());
  }
}
