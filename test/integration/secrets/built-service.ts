import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS_LOADER } from '../../support/evaluation-service.js';
import { freePort } from '../../support/databases/process-resources.js';

/** Generous timeout for busy machines. */
const START_TIMEOUT_MS = 120_000;

/** The built service as a separate process, with its complete output. */
export class BuiltService {
  output = '';
  private readonly exited: Promise<number>;

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {
    child.stdout?.on('data', (chunk) => (this.output += chunk));
    child.stderr?.on('data', (chunk) => (this.output += chunk));
    this.exited = new Promise((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  }

  /**
   * Starts an entry point with only these environment variables and PATH. Does not wait until it is ready.
   * @param entryPoint built file
   */
  static async launch(
    settings: Record<string, string | undefined>,
    entryPoint = 'dist/src/main.js',
  ): Promise<BuiltService> {
    const port = await freePort();
    const child = spawn(process.execPath, ['--enable-source-maps', ...LIMITS_LOADER, entryPoint], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: String(port), ...settings },
    });
    return new BuiltService(child, `http://127.0.0.1:${port}`);
  }

  /** Waits until the service is ready. */
  async ready(): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (let isReady = false; !isReady;) {
      if (this.child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`The service did not become ready:\n${this.output}`);
      }
      await sleep(50);
      isReady = await fetch(`${this.url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    }
  }

  /** Waits for the process to exit, and kills it after a timeout. Returns the exit status. */
  async ended(): Promise<number> {
    const timer = setTimeout(() => this.child.kill('SIGKILL'), START_TIMEOUT_MS);
    const status = await this.exited;
    clearTimeout(timer);
    return status;
  }

  /** Sends SIGTERM to the process and waits for it to exit. Returns the exit status. */
  async stop(): Promise<number> {
    this.child.kill('SIGTERM');
    return this.ended();
  }
}
