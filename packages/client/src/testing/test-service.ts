import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { connect, type SvcClient } from '../index.js';
import { TestApplication, type DeliverOptions, type DeliverySurroundings } from './application.js';
import { McpStub, type McpTool } from './mcp-stub.js';
import { RestStub, type RestRoute } from './rest-stub.js';
import { ServiceProcess, type ModelRule } from './service-process.js';
import { later } from './time.js';

/** How to start the service for tests. */
export interface TestServiceOptions {
  /** Folder of the built service. Default: the variable SVC_HOME. */
  home?: string;
  /** Date and time at which the clock stands at first. Default: 2030-01-01T08:00:00Z, a Tuesday. */
  startAt?: string;
  /** Settings of the service, as in its `.env.example`. */
  settings?: Record<string, string>;
  /** How long a call of this class may take; an end for what hangs. Default: 120,000. */
  timeoutMs?: number;
}

const START = '2030-01-01T08:00:00Z';
const TIMEOUT_MS = 120_000;

/**
 * Starts the real service, with an empty embedded database and a clock that stands still.
 * @throws Error when there is no built service, or it does not start
 */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const { startAt = START, settings = {}, timeoutMs = TIMEOUT_MS } = options;
  const home = await homeOf(options.home ?? process.env['SVC_HOME']);
  return new TestService(await ServiceProcess.start(home, startAt, { settings, timeoutMs }), home, timeoutMs);
}

async function homeOf(folder: string | undefined): Promise<string> {
  if (folder === undefined) {
    throw new Error('Where is the service? Set SVC_HOME to the folder of svc-platform, or give "home".');
  }
  const home = resolve(folder);
  await access(join(home, 'dist/src/evaluation/main.js')).catch(() => {
    throw new Error(`There is no built service in ${home}: run "npm ci && npm run build" there.`);
  });
  return home;
}

/** The service under a test, and what stands in for the world around it. */
export class TestService {
  /** The typed client of the service, as a caller who may do everything. */
  readonly client: SvcClient;
  private readonly stubs: { stop(): Promise<void> }[] = [];

  /** @internal */
  constructor(
    private readonly process: ServiceProcess,
    private readonly home: string,
    private readonly timeoutMs: number,
  ) {
    this.client = this.clientOf('jane.doe');
  }

  /** Ends the service and all stubs, and deletes the data. */
  async stop(): Promise<void> {
    await Promise.all([this.process.stop(), ...this.stubs.map((stub) => stub.stop())]);
  }

  /**
   * The typed client as another caller.
   * @param permissions names of permissions of the service; all without them
   */
  clientOf(subject: string, permissions: readonly string[] | 'all' = 'all'): SvcClient {
    // A new one for each request, since a token ends when the clock moves on.
    const token = (): Promise<string> => this.process.token(subject, permissions);
    return connect({ url: this.process.url, token, timeoutMs: this.timeoutMs });
  }

  /** Delivers the folder of an application, and activates it. */
  deliver(folder: string, options: DeliverOptions = {}): Promise<TestApplication> {
    return TestApplication.deliver(this.surroundings, folder, options);
  }

  /** Stands in for a system of type REST. @param routes by method and path, such as `GET /clients/:id` */
  async restStub(routes: Record<string, RestRoute>): Promise<RestStub> {
    return this.kept(await RestStub.start(routes));
  }

  /** Stands in for a system of type MCP. @param tools by their names */
  async mcpStub(tools: Record<string, McpTool>): Promise<McpStub> {
    return this.kept(await McpStub.start(tools));
  }

  /** What the language model answers from now on: that of the first rule whose conditions all hold. */
  model(rules: readonly ModelRule[]): Promise<void> {
    return this.process.script(rules);
  }

  /** What the time is in the service. */
  now(): Promise<Date> {
    return this.process.settle();
  }

  /**
   * Moves the clock. Timers fire in their order, each at its own time.
   * @param duration ISO 8601, such as `P14D` or `PT30M`
   */
  async advance(duration: string): Promise<void> {
    await this.process.moveTo(later(await this.process.settle(), duration));
  }

  /** Moves the clock to a date and time; an earlier one changes nothing. */
  async advanceTo(time: string | Date): Promise<void> {
    await this.process.moveTo(new Date(time));
  }

  private kept<Stub extends { stop(): Promise<void> }>(stub: Stub): Stub {
    this.stubs.push(stub);
    return stub;
  }

  private get surroundings(): DeliverySurroundings {
    return {
      home: this.home,
      url: this.process.url,
      token: () => this.process.token('jane.doe', 'all'),
      client: this.client,
      settle: async () => {
        await this.process.settle();
      },
    };
  }
}
