import { setTimeout as sleep } from 'node:timers/promises';
import { entries, ProcessRows } from './process-rows.js';
import { ProcessClient } from './process-client.js';
import { APPROVAL, TICKER } from './process-models.js';
import type { ProofEnvironment } from './proof-environment.js';
import { prove } from './proof.js';
import { rows } from './rows.js';
import type { ServiceProcess } from './service-process.js';
import { SteadyOrders } from './steady-orders.js';

const QUIET_MS = 1_500;
const SCHEDULES_MS = 15_000;

/** A service under load with two schedules, and the measurements of database faults. */
export class FaultSite {
  /** Maximum time from the end of a fault to the first write, by fault. */
  private readonly back = new Map<string, number>();

  private constructor(
    readonly service: ServiceProcess,
    private readonly client: ProcessClient,
    readonly load: SteadyOrders,
    private readonly database: () => Promise<string>,
  ) {}

  /**
   * Publishes the processes and starts the load.
   * @param database returns a URL at which the current rows can be read directly
   * @param environment reduces the load in short runs, which share the processors
   */
  static async open(
    service: ServiceProcess,
    database: () => Promise<string>,
    environment: ProofEnvironment,
  ): Promise<FaultSite> {
    const client = new ProcessClient(service.url, await environment.token());
    const build = await client.publish({ approval: APPROVAL, ticker: TICKER });
    await client.activate(build);
    const load = new SteadyOrders(client, build, {
      isLight: environment.short,
      isReady: () => service.isReady(),
    });
    prove((await schedules(await database())).length === 2, 'there must be two schedules');
    load.begin();
    return new FaultSite(service, client, load, database);
  }

  /**
   * Causes a fault under load, and measures the time until writes resume after its end.
   * @param make causes the fault; returns its end by `performance.now()`, or nothing if that is when it returns
   */
  async fault(name: string, limitMs: number, make: () => Promise<number | void>): Promise<void> {
    await sleep(QUIET_MS);
    const begin = performance.now();
    const end = (await make()) ?? performance.now();
    const took = await this.load.untilNextWrite(end, limitMs);
    this.load.noteFault(begin, end + took);
    this.back.set(name, Math.max(took, this.back.get(name) ?? 0));
  }

  /**
   * Ends the load and checks the stored rows.
   * @returns the figures
   */
  async finish(): Promise<string> {
    const { service, client, load, database } = this;
    await sleep(QUIET_MS * 2);
    await load.end();
    prove(!service.hasEnded, 'the service ended');
    const { all, notReady, wrong } = load.readinessChecks;
    prove(wrong.length === 0, `/readyz was wrong in ${wrong.length} of ${all} checks: ${wrong.join('; ')}`);
    await checkStored(await database(), load);
    await checkSchedules(database);
    await client.close();
    const times = [...this.back].map(([name, ms]) => `${name} ${ms.toFixed(0)} ms`).join(', ');
    const answers = [...load.statuses].map(([status, count]) => `${count} x ${status}`).join(', ');
    return (
      `${load.finished.size} orders acknowledged, 0 lost, 0 duplicated, 0 schedules stopped, ${answers}; ` +
      `writes resumed after ${times}; /readyz correct in all ${all} checks, ${notReady} of them "not ready" (${load.agreement})`
    );
  }
}

async function checkStored(databaseUrl: string, { finished }: SteadyOrders): Promise<void> {
  const reader = await ProcessRows.open(databaseUrl);
  const stored = (await reader.instances()).filter(({ row }) => row.processName === 'approval');
  await reader.close();
  const lost = [...finished].filter((uuid) => !stored.some(({ row }) => row.uuid === uuid));
  prove(lost.length === 0, `${lost.length} acknowledged orders are lost`);
  prove(stored.length === finished.size, `${stored.length} orders for ${finished.size} keys`);
  const doubled = stored.filter((each) => entries(each, 'left') !== 1);
  prove(doubled.length === 0, `${doubled.length} orders did not execute their step once`);
}

/** Checks that both schedules continue and that no incident was created. */
async function checkSchedules(database: () => Promise<string>): Promise<void> {
  const before = await schedules(await database());
  const deadline = performance.now() + SCHEDULES_MS;
  for (;;) {
    const now = await schedules(await database());
    const isNew = ({ id }: { id: number }): boolean => !before.some((each) => each.id === id);
    if (now.filter(isNew).length === 2) {
      break;
    }
    prove(performance.now() < deadline, `schedules do not continue: ${JSON.stringify(now)}`);
    await sleep(250);
  }
  const [row] = await rows(await database(), 'SELECT COUNT(*) AS incidents FROM process_incidents');
  prove(Number(row?.['incidents']) === 0, 'a database failure caused an incident');
}

async function schedules(databaseUrl: string): Promise<{ id: number; kind: string }[]> {
  const found = await rows(
    databaseUrl,
    "SELECT id, kind FROM runtime_jobs WHERE kind IN ('TIMER_START', 'PROCESS_CLEANUP')",
  );
  return found.map(({ id, kind }) => ({ id: Number(id), kind: String(kind) }));
}
