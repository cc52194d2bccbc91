import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { DatabaseKind } from '../../../test/support/databases/server-program.js';
import { scratchDatabase, type TestDatabase } from '../../../test/support/databases/start-databases.js';
import { AUDIENCE, StubIssuer } from '../../../test/support/issuer.js';
import { ServiceProcess } from './service-process.js';

/** Counts the databases of all environments, since concurrent proofs share a server. */
let databaseCount = 0;

/** Environment of a proof: one database, one token issuer and any number of service processes. */
export class ProofEnvironment {
  /** Key that encrypts secrets in all service processes of this environment: id and 32 bytes. */
  readonly secretKey = { id: 'prove', key: randomBytes(32) };
  private readonly services: ServiceProcess[] = [];

  private constructor(
    readonly kind: DatabaseKind,
    /** Whether to run few rounds, as in CI, or the full proof. */
    readonly short: boolean,
    /** The database server; undefined for the embedded database. */
    readonly server: TestDatabase | undefined,
    /** Folder for files of this environment, removed afterwards. */
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

  /** Creates an empty database. Returns its DATABASE_URL. */
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

  /** Like `startService`, but does not wait. Every service is killed at the end of the environment. */
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

  /** Returns the environment variables of a service on a database. */
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
      // On a shared machine, a low-priority worker for connection tests would miss its deadline.
      ...(this.short ? { 'outboundLimits.threadNiceness': '0' } : {}),
    };
  }

  /** Takes over a service that was launched separately, and waits until it is ready. */
  async adopt(service: ServiceProcess): Promise<ServiceProcess> {
    this.services.push(service);
    await service.ready();
    return service;
  }

  /** Returns an access token with all permissions, valid for an hour. */
  async token(claims: Record<string, unknown> = {}): Promise<string> {
    return this.issuer.sign({ ...claims, exp: Math.floor(Date.now() / 1_000) + 3_600 });
  }

  /** Last output of each service, for diagnosis. */
  get outputs(): string[] {
    return this.services.map(({ url, outputTail }) => `${url} printed:\n${outputTail}`);
  }

  /** Kills all services that are still running. */
  async end(): Promise<void> {
    await Promise.all(this.services.map((service) => service.kill('SIGKILL')));
    await this.issuer.stop();
  }
}
