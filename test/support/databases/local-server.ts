import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chownSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { unpackedProgram } from './debian-package.js';
import { processFolder } from './process-resources.js';

const run = promisify(execFile);
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 20_000;
/** The account for servers that refuse to run as root. */
export const NOBODY = 65_534;

/** A command with leading arguments. */
export type Command = [string, ...string[]];

/** How to run one server of the tests. */
export interface LocalServerPlan {
  name: string;
  /** Creates files before the first start. Called once with the folder of the server. */
  prepare?(folder: string): Promise<void>;
  /** Full command; the folder is private and empty at first. */
  command(folder: string): Command;
  environment?(folder: string): Record<string, string>;
  /** Reports whether the server accepts requests. */
  isReady(): Promise<boolean>;
  /** Written to standard input, which then stays open for the lifetime of this process. */
  input?: string;
  /** Whether the server refuses to run as root. It then runs as `nobody`. */
  refusesRoot?: boolean;
}

/** All running servers. They share one exit hook, because Node reports many listeners as a leak. */
const running = new Set<LocalServer>();
process.once('exit', () => running.forEach((server) => server.discard()));

/** A server program with its own folder. It stops when this process exits. */
export class LocalServer {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly plan: LocalServerPlan,
    readonly folder: string,
  ) {}

  /** @throws Error with the end of what the server printed */
  static async start(plan: LocalServerPlan): Promise<LocalServer> {
    const folder = await processFolder(join(tmpdir(), `svc-${plan.name}`));
    const server = new LocalServer(plan, folder);
    running.add(server);
    if (plan.refusesRoot === true && isRoot()) {
      chownSync(folder, NOBODY, NOBODY);
    }
    try {
      await plan.prepare?.(folder);
      if (!(await server.hasStarted(Date.now() + START_TIMEOUT_MS))) {
        throw server.notStarted();
      }
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  /** Sends a signal to the server and waits until it has exited. Keeps its data. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
      return;
    }
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await gone;
    clearTimeout(timer);
  }

  /** Restarts the server on the same ports and data. */
  async restart(signal?: NodeJS.Signals): Promise<void> {
    await this.kill(signal);
    const deadline = Date.now() + START_TIMEOUT_MS;
    // Child processes of a killed server may live a little longer and hold its shared memory or ports.
    while (!(await this.hasStarted(deadline))) {
      if (Date.now() > deadline) {
        throw this.notStarted();
      }
      await sleep(200);
    }
  }

  /** Stops the server and removes its data. */
  async stop(): Promise<void> {
    await this.kill();
    running.delete(this);
    this.discard();
  }

  /** Returns the output of the server. */
  output(): string {
    return readFileSync(join(this.folder, 'server.log'), 'utf8');
  }

  /** Starts the server and waits until it is ready. Returns false if it exits or exceeds the deadline. */
  private async hasStarted(deadline: number): Promise<boolean> {
    const log = openSync(join(this.folder, 'server.log'), 'a');
    const [file, ...args] = [...commandPrefix(this.plan), ...this.plan.command(this.folder)];
    const env = { ...process.env, ...this.plan.environment?.(this.folder) };
    const child = spawn(file as string, args, { stdio: ['pipe', log, log], cwd: this.folder, env });
    child.stdin?.on('error', () => undefined).write(this.plan.input ?? '');
    this.child = child;
    while (!(await this.plan.isReady().catch(() => false))) {
      if (child.exitCode !== null || Date.now() > deadline) {
        return false;
      }
      await sleep(50);
    }
    return true;
  }

  private notStarted(): Error {
    return new Error(`${this.plan.name} did not start:\n${this.output().slice(-2_000)}`);
  }

  /** Kills the server and removes its folder. Synchronous, for use in exit hooks. */
  discard(): void {
    this.child?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Command prefix that runs a program as `nobody` when this process is root, for programs that refuse to run as root. */
export function asNobody(): string[] {
  return isRoot()
    ? ['/usr/bin/setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--']
    : [];
}

/** Runs a command and returns its trimmed output. */
export async function output([file, ...args]: Command, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await run(file, args, { env: { ...process.env, ...env }, timeout: START_TIMEOUT_MS });
  return stdout.trim();
}

/**
 * Returns the command of a program: the host's, or else one unpacked from a Debian package.
 * @throws Error with the reason why it is not available
 */
export async function programOf(path: string, packageName: string): Promise<Command> {
  if (existsSync(path)) {
    return [path];
  }
  return (await unpackedProgram('bookworm', packageName, path)).command;
}

/** A started server, or the reason, in one sentence, why it is not available here. Its tests are then skipped. */
export type Started<T> = { server: T; missing?: undefined } | { server?: undefined; missing: string };

/** Tries to start a server. If `CI` is set, a server that is not available is an error. */
export async function tryStart<T>(start: () => Promise<T>): Promise<Started<T>> {
  try {
    return { server: await start() };
  } catch (error) {
    if (process.env['CI'] !== undefined) {
      throw error;
    }
    return { missing: (error as Error).message.split('\n', 1)[0] ?? '' };
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Command prefix that makes the Linux kernel kill the server when this process dies, even by SIGKILL. */
function commandPrefix({ refusesRoot = false }: LocalServerPlan): string[] {
  if (!existsSync('/usr/bin/setpriv')) {
    return [];
  }
  const user = refusesRoot && isRoot() ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];
  return ['/usr/bin/setpriv', ...user, '--pdeathsig', 'KILL', '--'];
}
