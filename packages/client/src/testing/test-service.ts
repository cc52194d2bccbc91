import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { connect, type SvcClient } from '../index.js';
import { TestApplication, type DeliverOptions, type DeliveryContext } from './application.js';
import { McpStub, type McpTool } from './mcp-stub.js';
import { RestStub, type RestRoute } from './rest-stub.js';
import { ServiceProcess, type ModelRule } from './service-process.js';
import { addDuration } from './time.js';

/** Options of {@link startTestService}. */
export interface TestServiceOptions {
  /** Folder of the built service. Default: the environment variable SVC_HOME. */
  home?: string;
  /** Initial time of the clock. Default: 2030-01-01T08:00:00Z, a Tuesday. */
  startAt?: string;
  /** Settings of the service, as in its `.env.example`. */
  settings?: Record<string, string>;
  /** Timeout of each call of {@link TestService}. Default: 120,000. */
  timeoutMs?: number;
}

const START = '2030-01-01T08:00:00Z';
const TIMEOUT_MS = 120_000;

/**
 * Starts the real service with an empty embedded database and a stopped clock.
 * @throws Error when the service is not built or does not start
 */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const { startAt = START, settings = {}, timeoutMs = TIMEOUT_MS } = options;
  const home = await homeOf(options.home ?? process.env['SVC_HOME']);
  return new TestService(await ServiceProcess.start(home, startAt, { settings, timeoutMs }), home, timeoutMs);
}

async function homeOf(folder: string | undefined): Promise<string> {
  if (folder === undefined) {
    throw new Error('Set SVC_HOME to the folder of svc-platform, or pass "home".');
  }
  const home = resolve(folder);
  await access(join(home, 'dist/src/evaluation/main.js')).catch(() => {
    throw new Error(`There is no built service in ${home}: run "npm ci && npm run build" there.`);
  });
  return home;
}

/** Service under test, with stubs for its systems. */
export class TestService {
  /** Typed client of the service with all permissions. */
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

  /** Stops the service and all stubs and deletes the data. */
  async stop(): Promise<void> {
    await Promise.all([this.process.stop(), ...this.stubs.map((stub) => stub.stop())]);
  }

  /**
   * Returns the typed client for another caller.
   * @param permissions names of permissions. Default: all
   */
  clientOf(subject: string, permissions: readonly string[] | 'all' = 'all'): SvcClient {
    // A new token for each request, because advancing the clock makes tokens expire.
    const token = (): Promise<string> => this.process.token(subject, permissions);
    return connect({ url: this.process.url, token, timeoutMs: this.timeoutMs });
  }

  /** Delivers an application folder and activates the build. */
  deliver(folder: string, options: DeliverOptions = {}): Promise<TestApplication> {
    return TestApplication.deliver(this.context, folder, options);
  }

  /** Starts a stub of a REST service. @param routes answers by method and path, such as `GET /clients/:id` */
  async restStub(routes: Record<string, RestRoute>): Promise<RestStub> {
    return this.register(await RestStub.start(routes));
  }

  /** Starts a stub of an MCP server. @param tools tools by name */
  async mcpStub(tools: Record<string, McpTool>): Promise<McpStub> {
    return this.register(await McpStub.start(tools));
  }

  /** Sets the answers of the language model: the first rule whose conditions all hold applies. */
  model(rules: readonly ModelRule[]): Promise<void> {
    return this.process.script(rules);
  }

  /** Returns the time of the service. */
  now(): Promise<Date> {
    return this.process.settle();
  }

  /**
   * Advances the clock. Timers fire in order, each at its own time.
   * @param duration ISO 8601, such as `P14D` or `PT30M`
   */
  async advance(duration: string): Promise<void> {
    await this.process.moveTo(addDuration(await this.process.settle(), duration));
  }

  /** Advances the clock to a time; an earlier one changes nothing. */
  async advanceTo(time: string | Date): Promise<void> {
    await this.process.moveTo(new Date(time));
  }

  private register<Stub extends { stop(): Promise<void> }>(stub: Stub): Stub {
    this.stubs.push(stub);
    return stub;
  }

  private get context(): DeliveryContext {
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
