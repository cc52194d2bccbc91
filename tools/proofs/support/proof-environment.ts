import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { DatabaseKind } from '../../../test/support/databases/server-program.js';
import { scratchDatabase, type TestDatabase } from '../../../test/support/databases/start-databases.js';
import { AUDIENCE, StubIssuer } from '../../../test/support/issuer.js';
import { ServiceProcess } from './service-process.js';

/** Of all environments: proofs beside each other share a server. */
let databaseCount = 0;

/** What a proof runs in: one database, one token issuer and as many service processes as it starts. */
export class ProofEnvironment {
  /** Seals secrets in every service process of this environment: id and 32 bytes. */
  readonly secretKey = { id: 'prove', key: randomBytes(32) };
  private readonly services: ServiceProcess[] = [];

  private constructor(
    readonly kind: DatabaseKind,
    /** Few rounds, for every CI run; otherwise as many as the claim deserves. */
    readonly short: boolean,
    /** The server behind `databaseUrl`; undefined for the embedded file. */
    readonly server: TestDatabase | undefined,
    /** Files of this environment; removed afterwards. */
    readonly folder: string,
    readonly issuer: StubIssuer,
  ) {}

  /** @param folder empty folder for files of this environment; the caller removes it */
  static async create(
    kind: DatabaseKind,
    options: { short: boolean; server: TestDatabase | undefined; folder: string },
  ): Promise<ProofEnvironment> {
    const issuer = await StubIssuer.start();
    return new ProofEnvironment(kind, options.short, options.server, options.folder, issuer);
  }

  /** DATABASE_URL of a new empty database. */
  async emptyDatabase(): Promise<string> {
    databaseCount += 1;
    const name = `svc_prove_${process.pid}_${databaseCount}`;
    return this.server === undefined
      ? `sqlite:${join(this.folder, `${name}.sqlite`)}`
      : scratchDatabase(this.server.url, name);
  }

  /**
   * Starts the built service in production mode and waits until it is ready.
   * @param within see `ServiceProcess.launch`
   */
  async startService(
    databaseUrl: string,
    settings: Record<string, string> = {},
    within: readonly string[] = [],
  ): Promise<ServiceProcess> {
    const service = await this.launchService(databaseUrl, settings, within);
    await service.ready();
    return service;
  }

  /** As `startService`, without waiting. Every service is ended with the environment at the latest. */
  async launchService(
    databaseUrl: string,
    settings: Record<string, string> = {},
    within: readonly string[] = [],
  ): Promise<ServiceProcess> {
    const environment = { ...this.settings(databaseUrl), ...settings };
    const service = await ServiceProcess.launch(environment, undefined, within);
    this.services.push(service);
    return service;
  }

  /** Environment variables of a service on a database. */
  settings(databaseUrl: string): Record<string, string> {
    return {
      NODE_ENV: this.kind === 'embedded' ? 'test' : 'production',
      DATABASE_URL: databaseUrl,
      DATA_DIR: this.folder,
      OUTBOUND_HTTP: 'allow',
      OIDC_ISSUER: this.issuer.url,
      OIDC_AUDIENCE: AUDIENCE,
      SECRETS_KEYS: `${this.secretKey.id}:${this.secretKey.key.toString('base64')}`,
      RATE_LIMIT_ADDRESS_PER_MINUTE: '0',
      RATE_LIMIT_PRINCIPAL_PER_MINUTE: '0',
      'httpLimits.callerRequests': '0',
      'httpLimits.callerAtWork': '0',
      'httpLimits.connectionTestsPerMinute': '0',
      SHUTDOWN_DELAY_MS: '0',
      LOG_LEVEL: 'error',
      // Beside others' work, the worker for connection tests would not come to its turn within their deadline.
      ...(this.short ? { 'outboundLimits.threadNiceness': '0' } : {}),
    };
  }

  /** Takes charge of a service that was launched otherwise, and waits until it is ready. */
  async adopt(service: ServiceProcess): Promise<ServiceProcess> {
    this.services.push(service);
    await service.ready();
    return service;
  }

  /** An access token with every permission, good for an hour. */
  async token(claims: Record<string, unknown> = {}): Promise<string> {
    return this.issuer.sign({ ...claims, exp: Math.floor(Date.now() / 1_000) + 3_600 });
  }

  /** The end of what each service printed, to find out why a claim did not hold. */
  get outputs(): string[] {
    return this.services.map(({ url, outputTail }) => `${url} printed:\n${outputTail}`);
  }

  /** Ends whatever a proof has left running. */
  async end(): Promise<void> {
    await Promise.all(this.services.map((service) => service.kill('SIGKILL')));
    await this.issuer.stop();
  }
}
