import { text } from 'node:stream/consumers';
import { connect, type SvcClient } from '../index.js';
import { Env } from '../../../../src/platform/config/env.js';
import { pathAsTyped } from '../../../../src/platform/config/cli.js';

/** Thrown for an invalid command line: status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface ServiceAddress {
  url: string;
  token: string;
}

/** Environment of the command line. */
export interface SvcEnvironment {
  env: Env;
  print: (line: string) => void;
  printError: (line: string) => void;
  pathOf: (path: string) => string;
  readInput: () => Promise<string>;
  /** Returns a signal for Ctrl-C, for commands that run until interrupted. Other commands end at Ctrl-C like every program. */
  untilStopped: () => AbortSignal;
  evaluation?: () => Promise<ServiceAddress>;
}

/** Options of every command. */
export interface SharedOptions {
  url?: string;
  token?: string;
  json?: boolean;
  timeout: number;
}

/** An invocation of the command line: its service and output. */
export class Session {
  constructor(
    readonly environment: SvcEnvironment,
    private readonly options: SharedOptions,
  ) {}

  get timeoutMs(): number {
    return this.options.timeout * 1_000;
  }

  /**
   * Returns the address and token: of the options, else SVC_URL and SVC_TOKEN, else of the local evaluation server, which never receives a
   * token for another service.
   * @throws UsageError when one of the two is missing
   */
  async address(): Promise<ServiceAddress> {
    const { env, evaluation } = this.environment;
    const url = this.options.url ?? env.variable('SVC_URL');
    const token = this.options.token ?? env.variable('SVC_TOKEN');
    if (url !== undefined && token !== undefined) {
      return { url, token };
    }
    if (url === undefined && token === undefined && evaluation !== undefined) {
      return evaluation();
    }
    throw new UsageError(
      url === undefined
        ? 'Set the service that the token is for: SVC_URL or --url.'
        : 'A token is required: set SVC_TOKEN, or --token, which other users of this machine can see.',
    );
  }

  /** @throws UsageError, AddressError */
  async service(): Promise<SvcClient> {
    return connect({ ...(await this.address()), timeoutMs: this.timeoutMs });
  }

  show(data: unknown, lines: () => string[]): void {
    (this.isJson ? [JSON.stringify(data)] : lines()).forEach(this.environment.print);
  }

  showList(found: readonly unknown[], lines: () => string[], none: string): void {
    this.show(found, lines);
    if (found.length === 0) {
      this.note(none);
    }
  }

  printText(lines: string[]): void {
    if (!this.isJson) {
      lines.forEach(this.environment.print);
    }
  }

  note(line: string): void {
    if (!this.isJson) {
      this.environment.printError(line);
    }
  }

  private get isJson(): boolean {
    return this.options.json === true;
  }
}

/** Returns the environment of this process. */
export function processEnvironment(print: (line: string) => void): SvcEnvironment {
  return {
    env: Env.fromProcess('maintenance'),
    print,
    printError: (line) => process.stderr.write(`${line}\n`),
    pathOf: (path) => pathAsTyped(path, 'svc', 'deliver'),
    readInput: () => text(process.stdin),
    untilStopped: () => {
      const stop = new AbortController();
      process.once('SIGINT', () => stop.abort());
      process.once('SIGTERM', () => stop.abort());
      return stop.signal;
    },
  };
}
