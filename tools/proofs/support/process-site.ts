import { setTimeout as sleep } from 'node:timers/promises';
import { ProcessClient } from './process-client.js';
import { ProcessRows } from './process-rows.js';
import type { ProofEnvironment } from './proof-environment.js';
import { prove } from './proof.js';
import type { ServiceProcess } from './service-process.js';

const DOWN_MS = 500;
const LONGEST_RECOVERY_MS = 60_000;
const LONGEST_DRAIN_MS = 180_000;
/** A dead worker's jobs come back soon, so that a proof need not wait. */
const SETTINGS = { 'jobLimits.leaseMs': '1000', 'jobLimits.retryBaseMs': '50', 'jobLimits.pollMs': '50' };

/** Callers who go on until they are told to pause. */
export interface Load {
  /** How many calls were answered with success. */
  readonly acknowledged: number;
  /** Whether the database may be away, so that 5xx is no fault. */
  databaseMayFail: boolean;
  /** Works until `pause` is called. Rejects when an answer is a fault. */
  run(callers: number): Promise<void>;
  pause(): void;
}

/** How much work there is, and when it is hit. */
export interface KillPlan {
  callers: number;
  moment: Promise<unknown>;
}

/** The service that is killed and started again on one database. */
export class ProcessSite {
  /** Writes that shared a transaction, as far as somebody has looked. */
  shared = 0;

  private constructor(
    private readonly environment: ProofEnvironment,
    readonly databaseUrl: string,
    private readonly settings: Record<string, string>,
    public rows: ProcessRows,
    private service: ServiceProcess,
    public client: ProcessClient,
    /** Another caller. */
    public other: ProcessClient,
  ) {}

  /** @param settings environment variables of the service, besides those that let it take up work soon */
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

  /** Kills the database server, and has it back a moment later. */
  async killDatabase(): Promise<void> {
    const { server } = this.environment;
    await server?.kill('SIGKILL');
    await sleep(DOWN_MS);
    await server?.restart();
    await this.rows.close();
    this.rows = await ProcessRows.open(this.databaseUrl);
  }

  /** Waits until what ended instances still had to tell others is told. */
  async drained(): Promise<void> {
    const deadline = performance.now() + LONGEST_DRAIN_MS;
    while ((await this.rows.instances()).some(({ jobs }) => jobs.length > 0)) {
      prove(performance.now() < deadline, `jobs are left after ${LONGEST_DRAIN_MS} ms`);
      await sleep(100);
    }
  }

  /** Adds what the service says that it has written in groups. */
  async countGroups(): Promise<void> {
    const text = await (await fetch(`${this.service.url}/metrics`)).text();
    const [, shared = '0'] =
      /^svc_database_group_writes_total\{transaction="shared"\} (\d+)/m.exec(text) ?? [];
    this.shared += Number(shared);
  }

  /** Where the service listens at present. */
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

/** Kills the service under load. Leaves it dead and the callers at rest. */
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
 * Kills the database under load and has it back. Leaves the callers at rest.
 * @throws ProofError when the service does not go on with it soon
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
    prove(
      performance.now() - back < LONGEST_RECOVERY_MS,
      `nothing acknowledged within ${LONGEST_RECOVERY_MS} ms`,
    );
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
