import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, killOnExit } from '../../../test/support/databases/process-resources.js';
import { LIMITS_LOADER } from '../../../test/support/evaluation-service.js';

const START_TIMEOUT_MS = 180_000;
const POLL_MS = 100;
/** Timeout of readiness requests, long enough for a busy machine. */
const READY_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_LENGTH = 8_000;

/** Options as in the script `start:prod`, but without source maps, which take a sixth of the startup time. */
const NODE_OPTIONS = ['--max-semi-space-size=64', ...LIMITS_LOADER];

/** The built service as a separate process, which can be killed and stopped as in production. */
export class ServiceProcess {
  private output = '';
  private readonly exited: Promise<number | NodeJS.Signals>;

  private constructor(
    private readonly child: ChildProcess,
    /** `http://127.0.0.1:port` */
    readonly url: string,
  ) {
    const keep = (chunk: Buffer): void => {
      this.output = (this.output + chunk.toString()).slice(-MAX_OUTPUT_LENGTH);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    this.exited = new Promise((resolve) =>
      child.once('exit', (code, signal) => resolve(code ?? signal ?? 'SIGKILL')),
    );
  }

  /**
   * Starts the service on a free loopback port without waiting for it.
   * @param settings environment variables in addition to PATH
   * @param entryPoint built file to run
   * @param within command that runs the service in an isolated environment and becomes its process
   */
  static async launch(
    settings: Record<string, string>,
    entryPoint = 'dist/src/main.js',
    within: readonly string[] = [],
  ): Promise<ServiceProcess> {
    return ServiceProcess.run([...within, process.execPath, ...NODE_OPTIONS, entryPoint], settings);
  }

  /**
   * Like `launch`, with a custom command.
   * @param command program and arguments, which become the process of the service
   */
  static async run(command: readonly string[], settings: Record<string, string>): Promise<ServiceProcess> {
    const port = await freePort();
    const [file = '', ...args] = command;
    const child = killOnExit(
      spawn(file, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: process.env['PATH'],
          HOST: '127.0.0.1',
          PORT: String(port),
          TEST_LIMITS: JSON.stringify(settings),
          ...settings,
        },
      }),
    );
    return new ServiceProcess(child, `http://127.0.0.1:${port}`);
  }

  /**
   * Waits until the service reports that it is ready.
   * @throws Error with its last output when it exits first or is not ready within three minutes
   */
  async ready(): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await this.isReady())) {
      if (this.hasEnded || Date.now() > deadline) {
        throw new Error(`The service did not become ready:\n${this.output}`);
      }
      await sleep(POLL_MS);
    }
  }

  /** Returns whether the service reports ready, as a load balancer would check. */
  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  }

  /** Process id. */
  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** The end of its output. */
  get outputTail(): string {
    return this.output;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits until the process exits. */
  ended(): Promise<number | NodeJS.Signals> {
    return this.exited;
  }

  /**
   * Sends a signal and waits until the process has exited.
   * @returns exit status, or the signal that ended it
   */
  async kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    this.child.kill(signal);
    return this.exited;
  }
}
