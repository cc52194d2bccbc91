import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, endsWithUs } from '../../../test/support/databases/process-resources.js';
import { TAKES_LIMITS } from '../../../test/support/evaluation-service.js';

const START_TIMEOUT_MS = 180_000;
const START_LOOK_MS = 100;
/** Whoever answers later than this is as good as gone; on a busy machine an answer takes its time. */
const READY_TIMEOUT_MS = 10_000;
const OUTPUT_KEPT = 8_000;

/** As in the script `start:prod`, without the maps of sources, which are a sixth of what a start takes. */
const NODE_OPTIONS = ['--max-semi-space-size=64', ...TAKES_LIMITS];

/** The built service as a process of its own, so that it can be killed and told to stop as in production. */
export class ServiceProcess {
  private output = '';
  private readonly exited: Promise<number | NodeJS.Signals>;

  private constructor(
    private readonly child: ChildProcess,
    /** `http://127.0.0.1:port` */
    readonly url: string,
  ) {
    const keep = (chunk: Buffer): void => {
      this.output = (this.output + chunk.toString()).slice(-OUTPUT_KEPT);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    this.exited = new Promise((resolve) =>
      child.once('exit', (code, signal) => resolve(code ?? signal ?? 'SIGKILL')),
    );
  }

  /**
   * Starts the service on a free loopback port and does not wait for it.
   * @param settings environment variables; besides them it gets PATH only
   * @param entryPoint built file to run
   * @param within command that runs the service in surroundings of its own, and becomes its process
   */
  static async launch(
    settings: Record<string, string>,
    entryPoint = 'dist/src/main.js',
    within: readonly string[] = [],
  ): Promise<ServiceProcess> {
    return ServiceProcess.run([...within, process.execPath, ...NODE_OPTIONS, entryPoint], settings);
  }

  /**
   * As `launch`, with a command of its own.
   * @param command program and arguments, which become the process of the service
   */
  static async run(command: readonly string[], settings: Record<string, string>): Promise<ServiceProcess> {
    const port = await freePort();
    const [file = '', ...args] = command;
    const child = endsWithUs(
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
   * @throws Error with the end of its output when it ends before or takes more than three minutes
   */
  async ready(): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await this.isReady())) {
      if (this.hasEnded || Date.now() > deadline) {
        throw new Error(`The service did not become ready:\n${this.output}`);
      }
      await sleep(START_LOOK_MS);
    }
  }

  /** Whether it wants to be sent requests, as a load balancer asks. */
  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  }

  /** Process id, to ask the operating system about it. */
  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** The end of what it printed. */
  get outputTail(): string {
    return this.output;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits for the process to end by itself. */
  ended(): Promise<number | NodeJS.Signals> {
    return this.exited;
  }

  /**
   * Sends a signal and waits until the process is gone.
   * @returns exit status, or the signal that ended it
   */
  async kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    this.child.kill(signal);
    return this.exited;
  }
}
