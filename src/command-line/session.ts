import { connect, type SvcClient } from '../../clients/typescript/src/index.js';
import { Clock } from '../common/clock.js';
import type { Env } from '../config/env.js';

/** `hh:mm:ss` */
const TIME_LENGTH = 8;

/** Thrown for a command line that cannot be meant: status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Where a command finds the service, and a token of it. */
export interface ServiceAddress {
  url: string;
  token: string;
}

/** What the command line needs of its surroundings. */
export interface SvcSurroundings {
  env: Env;
  print: (line: string) => void;
  printError: (line: string) => void;
  /** Where a path of the command line is. */
  pathOf: (path: string) => string;
  /** The standard input as text. */
  readInput: () => Promise<string>;
  /** For what goes on until somebody ends it. Other commands end at Ctrl-C as every program does. */
  untilStopped: () => AbortSignal;
  /** The evaluation server of this machine, where the command can know of one. */
  evaluation?: () => Promise<ServiceAddress>;
}

/** Options that every command takes. */
export interface SharedOptions {
  url?: string;
  token?: string;
  json?: boolean;
  timeout: number;
}

/** One call of the command line: which service it means, and how it prints. */
export class Session {
  private readonly clock = new Clock();

  constructor(
    readonly surroundings: SvcSurroundings,
    private readonly options: SharedOptions,
  ) {}

  get timeoutMs(): number {
    return this.options.timeout * 1_000;
  }

  /**
   * The options, else SVC_URL and SVC_TOKEN, else the evaluation server of this machine, which never gets the token of another one.
   * @throws UsageError when one of the two is missing
   */
  async address(): Promise<ServiceAddress> {
    const { env, evaluation } = this.surroundings;
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
        ? 'Which service is the token for? Set SVC_URL, or give --url.'
        : 'A token is needed: set SVC_TOKEN, or give --token, which other users of this machine can see.',
    );
  }

  /** @throws UsageError, AddressError */
  async service(): Promise<SvcClient> {
    return connect({ ...(await this.address()), timeoutMs: this.timeoutMs });
  }

  /** Prints lines for people, or with --json the whole as one line of JSON. */
  show(data: unknown, lines: () => string[]): void {
    (this.isJson ? [JSON.stringify(data)] : lines()).forEach(this.surroundings.print);
  }

  /** As {@link show}, for a list. People are told where it is empty, on the standard error. */
  showList(found: readonly unknown[], lines: () => string[], none: string): void {
    this.show(found, lines);
    if (found.length === 0) {
      this.tell(none);
    }
  }

  /** Prints lines for people only. */
  tellPeople(lines: string[]): void {
    if (!this.isJson) {
      lines.forEach(this.surroundings.print);
    }
  }

  /** Tells people what goes on, on the standard error. */
  tell(line: string): void {
    if (!this.isJson) {
      this.surroundings.printError(line);
    }
  }

  /** What the time is here, for people: hours, minutes, seconds. */
  time(): string {
    return this.clock.now().toTimeString().slice(0, TIME_LENGTH);
  }

  private get isJson(): boolean {
    return this.options.json === true;
  }
}
