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
  /** Files that must be there before the first start. Called once with the folder of the server. */
  prepare?(folder: string): Promise<void>;
  /** Full command; the folder is private and empty at first. */
  command(folder: string): Command;
  environment?(folder: string): Record<string, string>;
  /** Whether the server answers. */
  isReady(): Promise<boolean>;
  /** Goes to the standard input, which then stays open as long as this process lives. */
  input?: string;
  /** Some servers refuse to run as root; these run as nobody then. */
  refusesRoot?: boolean;
}

/** One hook for all of them: Node takes many listeners of one event for a leak, and warns. */
const running = new Set<LocalServer>();
process.once('exit', () => running.forEach((server) => server.discard()));

/** A server program with a folder of its own that ends with this process. */
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

  /** Sends a signal to the server and waits until it is gone; its data stays. */
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

  /** Starts the server again on the same ports and data, ending it first when it still runs. */
  async restart(signal?: NodeJS.Signals): Promise<void> {
    await this.kill(signal);
    const deadline = Date.now() + START_TIMEOUT_MS;
    // What a killed server has started itself may live for a moment, and keep its memory or ports.
    while (!(await this.hasStarted(deadline))) {
      if (Date.now() > deadline) {
        throw this.notStarted();
      }
      await sleep(200);
    }
  }

  /** Ends the server and removes its data. */
  async stop(): Promise<void> {
    await this.kill();
    running.delete(this);
    this.discard();
  }

  /** What the server has printed. */
  output(): string {
    return readFileSync(join(this.folder, 'server.log'), 'utf8');
  }

  /** Starts the server and waits; false when it has ended, or is late. */
  private async hasStarted(deadline: number): Promise<boolean> {
    const log = openSync(join(this.folder, 'server.log'), 'a');
    const [file, ...args] = [...leading(this.plan), ...this.plan.command(this.folder)];
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

  /** What is left of the server is gone after it; synchronous, for the end of this process. */
  discard(): void {
    this.child?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Arguments that run a command as nobody when this process is root, for programs that refuse root. */
export function asNobody(): string[] {
  return isRoot()
    ? ['/usr/bin/setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--']
    : [];
}

/** Runs a command to its end and returns what it prints. */
export async function output([file, ...args]: Command, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await run(file, args, { env: { ...process.env, ...env }, timeout: START_TIMEOUT_MS });
  return stdout.trim();
}

/**
 * A program of the host, else the one of a Debian package in the cache of the tests.
 * @throws Error that says why it cannot be had
 */
export async function programOf(path: string, packageName: string): Promise<Command> {
  if (existsSync(path)) {
    return [path];
  }
  return (await unpackedProgram('bookworm', packageName, path)).command;
}

/** What was started, or in one sentence why this machine cannot have it: its tests are skipped then. */
export type Started<T> = { server: T; missing?: undefined } | { server?: undefined; missing: string };

/** Starts what can be started. Where CI is set a server that cannot be had is a failure like any other. */
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

/** On Linux the kernel ends the server when this process dies, even by SIGKILL. */
function leading({ refusesRoot = false }: LocalServerPlan): string[] {
  if (!existsSync('/usr/bin/setpriv')) {
    return [];
  }
  const user = refusesRoot && isRoot() ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];
  return ['/usr/bin/setpriv', ...user, '--pdeathsig', 'KILL', '--'];
}
