import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DataSource } from 'typeorm';
import { Agent, fetch, type BodyInit } from 'undici';
import { createApp } from '../../src/app.setup.js';
import { oidcIssuer } from '../../src/platform/auth/oidc-issuer.js';
import { Env } from '../../src/platform/config/env.js';
import { Database } from '../../src/store/database.js';
import { buildOpenApi } from '../../src/openapi.js';
import { AUDIENCE, StubIssuer } from './issuer.js';
import { overrideLimits } from './limits/limits.js';
import { OpenApiContract } from './openapi-contract.js';
import { ShardDiscipline } from './shard-discipline.js';
import { Metrics } from '../../src/platform/observability/metrics/metrics.js';

/** Key that encrypts secrets in tests. */
export const TEST_SECRETS_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`;

/** Lifetime of the default token: long enough for any test, even on a slow machine. */
const TOKEN_SECONDS = 86_400;

/** A request of a test. `token` defaults to one with every permission; `null` sends no Authorization header. */
export interface TestRequest {
  token?: string | null;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged, instead of `body`. */
  rawBody?: BodyInit;
  headers?: Record<string, string>;
  /** Aborts the request. */
  signal?: AbortSignal;
}

/** A response. `body` is parsed if it is JSON, and the text otherwise. */
export interface TestResponse<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  text: string;
  body: Body;
}

/**
 * The whole service as in production, on a free loopback port, with the database of this test worker and its own token
 * issuer. Every response is validated against the OpenAPI document.
 */
export class TestApp {
  /** Shared by all applications of a worker, because the document does not depend on settings. */
  private static contract: OpenApiContract | undefined;
  /** The instance that the test files of a worker share. */
  private static ofWorker: TestApp | undefined;
  private readonly agent = new Agent({ connections: 100 });
  private isTaken = false;

  private constructor(
    readonly nest: NestExpressApplication,
    readonly issuer: StubIssuer,
    readonly url: string,
    private readonly token: string,
    private readonly releaseLimits: () => void,
    private readonly discipline: ShardDiscipline | undefined,
    private readonly variables: Record<string, string>,
  ) {
    TestApp.contract ??= new OpenApiContract(buildOpenApi(nest));
  }

  /**
   * Returns the application that the test files of this worker share. It starts once and restarts only if a file needs
   * other variables; `close` keeps it running for the next file.
   * @param settings environment variables, and limits (`jobLimits.pollMs`) that apply to this file only
   */
  static async shared(settings: Record<string, string> = {}): Promise<TestApp> {
    const [limits, variables] = [true, false].map((isLimit) =>
      Object.fromEntries(Object.entries(settings).filter(([name]) => name.includes('.') === isLimit)),
    ) as [Record<string, string>, Record<string, string>];
    if (!isDeepStrictEqual(TestApp.ofWorker?.variables, variables)) {
      TestApp.ofWorker = await TestApp.start(variables);
    }
    const app = TestApp.ofWorker as TestApp;
    app.isTaken = true;
    overrideLimits(limits);
    return app;
  }

  /**
   * Starts a separate application. Stops the shared one, so that it does no work on the same tables, unless this file uses
   * both.
   * @param settings environment variables and limits, in addition to the defaults of tests
   */
  static async start(settings: Record<string, string> = {}): Promise<TestApp> {
    if (TestApp.ofWorker?.isTaken === false) {
      await TestApp.ofWorker.stop();
      TestApp.ofWorker = undefined;
    }
    const issuer = await StubIssuer.start();
    const release = overrideLimits(settings);
    const env = Env.parse('production', {
      NODE_ENV: 'test',
      LOG_LEVEL: 'silent',
      DATABASE_URL: process.env['DATABASE_URL'],
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: AUDIENCE,
      SECRETS_KEYS: TEST_SECRETS_KEYS,
      EGRESS_ALLOW: '127.0.0.1',
      OUTBOUND_HTTP: 'allow',
      RATE_LIMIT_ADDRESS_PER_MINUTE: '0',
      RATE_LIMIT_PRINCIPAL_PER_MINUTE: '0',
      ...(JSON.parse(process.env['TEST_DATABASE_SETTINGS'] ?? '{}') as Record<string, string>),
      ...settings,
    });
    const nest = await createApp({ env, issuer: { inject: [Env], useFactory: oidcIssuer } });
    await nest.listen(0, '127.0.0.1');
    const { port } = nest.getHttpServer().address() as AddressInfo;
    const token = await issuer.sign({ exp: Math.floor(Date.now() / 1_000) + TOKEN_SECONDS });
    const discipline = env.get('DATABASE_SHARDS') > 1 ? disciplineOf(nest, env) : undefined;
    return new TestApp(nest, issuer, `http://127.0.0.1:${port}`, token, release, discipline, settings);
  }

  /** The service's database, for tests that inspect rows. */
  get dataSource(): DataSource {
    return this.nest.get(DataSource);
  }

  /** Returns a token of the test issuer with these claims overridden. */
  tokenWith(claims: Record<string, unknown>): Promise<string> {
    return this.issuer.sign(claims);
  }

  /** Sends a request and validates the response against the OpenAPI document. */
  async request<Body = Record<string, unknown>>(
    method: string,
    path: string,
    { token = this.token, body, rawBody, headers = {}, signal }: TestRequest = {},
  ): Promise<TestResponse<Body>> {
    const payload = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${this.url}${path}`, {
      method,
      dispatcher: this.agent,
      redirect: 'manual',
      signal: signal ?? null,
      headers: {
        // Compressing every response would slow the tests down and test nothing.
        'accept-encoding': 'identity',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload, duplex: 'half' }),
    });
    const text = await response.text();
    const contentType = response.headers.get('content-type') ?? '';
    const parsed: unknown = /[/+]json/.test(contentType) ? JSON.parse(text) : text;
    TestApp.contract?.check(method, path.split('?')[0] ?? '', {
      status: response.status,
      contentType,
      body: parsed,
      headers: response.headers,
    });
    return {
      status: response.status,
      headers: response.headers as unknown as Headers,
      text,
      body: parsed as Body,
    };
  }

  async close(): Promise<void> {
    if (this === TestApp.ofWorker) {
      this.isTaken = false;
    } else {
      await this.stop();
    }
    const violations = [...(this.discipline?.violations ?? [])];
    this.discipline?.violations.clear();
    if (violations.length > 0) {
      throw new Error(`Statements that a sharded database does not allow:\n${violations.join('\n')}`);
    }
  }

  private async stop(): Promise<void> {
    await this.agent.destroy();
    await this.nest.close();
    this.releaseLimits();
    await this.issuer.stop();
  }
}

function disciplineOf(nest: NestExpressApplication, env: Env): ShardDiscipline {
  const database = nest.get(Database);
  return ShardDiscipline.of(nest.get(DataSource), env.get('DATABASE_SHARDS'), () => database.isAtWork);
}

/** Metrics of one limit. */
export interface LimitMetrics {
  /** Configured limit. */
  maximum: number | undefined;
  refusals: number | undefined;
  /** Current use by all callers together. */
  all: number | undefined;
  /** Highest current use by one caller, address or process family. */
  largest: number | undefined;
}

/** Reads the metrics of the limit that a setting controls. Bypasses HTTP, because a request would change the counts. */
export async function limitMetrics(app: TestApp, setting: string): Promise<LimitMetrics> {
  const text = await app.nest.get(Metrics).text();
  const value = (name: string, labels = ''): number | undefined => {
    const line = text.split('\n').find((each) => each.startsWith(`${name}{limit="${setting}"${labels}} `));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
  return {
    maximum: value('svc_limit'),
    refusals: value('svc_limit_refusals_total'),
    all: value('svc_limit_use', ',of="all"'),
    largest: value('svc_limit_use', ',of="largest"'),
  };
}
