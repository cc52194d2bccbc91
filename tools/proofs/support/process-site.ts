import { setTimeout as sleep } from 'node:timers/promises';
import { ProcessClient } from './process-client.js';
import { ProcessRows } from './process-rows.js';
import type { ProofEnvironment } from './proof-environment.js';
import { prove } from './proof.js';
import type { ServiceProcess } from './service-process.js';

const DOWN_MS = 500;
const MAX_RECOVERY_MS = 60_000;
const DRAIN_TIMEOUT_MS = 180_000;
/** Jobs of dead workers are retried soon, which keeps proofs short. */
const SETTINGS = { 'jobLimits.leaseMs': '1000', 'jobLimits.retryBaseMs': '50', 'jobLimits.pollMs': '50' };

/** Callers that work until they are paused. */
export interface Load {
  /** Number of acknowledged calls. */
  readonly acknowledged: number;
  /** Whether the database may be unavailable, so that 5xx responses are permitted. */
  databaseMayFail: boolean;
  /** Works until `pause` is called. Rejects on an unexpected response. */
  run(callers: number): Promise<void>;
  pause(): void;
}

/** Number of callers and time of the kill. */
export interface KillPlan {
  callers: number;
  moment: Promise<unknown>;
}

/** A service that is killed and restarted on one database. */
export class ProcessSite {
  /** Number of writes that shared a transaction, updated by `countGroups`. */
  shared = 0;

  private constructor(
    private readonly environment: ProofEnvironment,
    readonly databaseUrl: string,
    private readonly settings: Record<string, string>,
    public rows: ProcessRows,
    private service: ServiceProcess,
    public client: ProcessClient,
    /** Client of a second caller. */
    public other: ProcessClient,
  ) {}

  /** @param settings environment variables of the service in addition to those that make it retry work soon */
  static async open(
    environment: ProofEnvironment,
    settings: Record<string, string> = {},
  ): Promise<ProcessSite> {
    const databaseUrl = await environment.emptyDatabase();
    const all = { ...SETTINGS, ...settings };
    const service = await environment.startService(databaseUrl, all);
    const rows = await ProcessRows.open(databaseUrl);
    const clients = await clientsOf(environment, service);
    return new ProcessSite(environment, databaseUrl, all, rows, service, ...clients);
  }

  async kill(): Promise<void> {
    await this.service.kill('SIGKILL');
  }

  async restart(): Promise<void> {
    await Promise.all([this.client.close(), this.other.close()]);
    this.service = await this.environment.startService(this.databaseUrl, this.settings);
    [this.client, this.other] = await clientsOf(this.environment, this.service);
  }

  /** Kills the database server and restarts it after a moment. */
  async killDatabase(): Promise<void> {
    const { server } = this.environment;
    await server?.kill('SIGKILL');
    await sleep(DOWN_MS);
    await server?.restart();
    await this.rows.close();
    this.rows = await ProcessRows.open(this.databaseUrl);
  }

  /** Waits until no jobs are left, including those of ended instances. */
  async waitForJobs(): Promise<void> {
    const deadline = performance.now() + DRAIN_TIMEOUT_MS;
    while ((await this.rows.instances()).some(({ jobs }) => jobs.length > 0)) {
      prove(performance.now() < deadline, `jobs remain after ${DRAIN_TIMEOUT_MS} ms`);
      await sleep(100);
    }
  }

  /** Adds the number of writes in shared transactions that the service reports. */
  async countGroups(): Promise<void> {
    const text = await (await fetch(`${this.service.url}/metrics`)).text();
    const [, shared = '0'] =
      /^svc_database_group_writes_total\{transaction="shared"\} (\d+)/m.exec(text) ?? [];
    this.shared += Number(shared);
  }

  /** Current URL of the service. */
  get url(): string {
    return this.service.url;
  }

  get isRunning(): boolean {
    return !this.service.hasEnded;
  }

  async close(): Promise<void> {
    await Promise.all([this.client.close(), this.other.close(), this.rows.close()]);
  }
}

/** Kills the service under load, then pauses the callers. */
export async function killService(
  site: ProcessSite,
  load: Load,
  { callers, moment }: KillPlan,
): Promise<void> {
  const work = load.run(callers);
  await Promise.race([work, moment]);
  await site.countGroups();
  await site.kill();
  load.pause();
  await work;
}

/**
 * Kills and restarts the database under load, then pauses the callers.
 * @throws ProofError when the service does not recover in time
 */
export async function killDatabase(
  site: ProcessSite,
  load: Load,
  { callers, moment }: KillPlan,
): Promise<void> {
  load.databaseMayFail = true;
  const work = load.run(callers);
  await Promise.race([work, moment]);
  await Promise.race([work, site.killDatabase()]);
  const { acknowledged } = load;
  const back = performance.now();
  while (load.acknowledged === acknowledged) {
    prove(performance.now() - back < MAX_RECOVERY_MS, `nothing acknowledged within ${MAX_RECOVERY_MS} ms`);
    await Promise.race([work, sleep(10)]);
  }
  load.pause();
  await work;
  prove(site.isRunning, 'the service ended with the database');
}

async function clientsOf(
  environment: ProofEnvironment,
  { url }: ServiceProcess,
): Promise<[ProcessClient, ProcessClient]> {
  const tokens = [await environment.token(), await environment.token({ sub: 'other' })] as const;
  return [new ProcessClient(url, tokens[0]), new ProcessClient(url, tokens[1])];
}
