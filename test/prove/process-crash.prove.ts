import { setTimeout as sleep } from 'node:timers/promises';
import { checkRows, count, entries } from './support/process-checks.js';
import { ProcessClient } from './support/process-client.js';
import { CHECK, ORDER } from './support/process-models.js';
import { Orders, type Order, type Target } from './support/process-orders.js';
import { ProcessRows, type StoredInstance } from './support/process-rows.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import type { ServiceProcess } from './support/service-process.js';

const CALLERS = 16;
const DOWN_MS = 500;
const LONGEST_RECOVERY_MS = 10_000;
const LONGEST_FINISH_MS = 180_000;
const LONGEST_DRAIN_MS = 60_000;
/** A dead worker's jobs come back soon, so that a proof need not wait. */
const SETTINGS = { JOBS_LEASE_MS: '1000', JOBS_RETRY_BASE_MS: '50', JOBS_POLL_MS: '50' };

export const proof: Proof = {
  name: 'process-crash',
  claim:
    'kill -9 of the service and of the database loses no acknowledged step, leaves no instance half moved and no job undone or done twice',
  databases: ['embedded', 'mariadb', 'mysql'],
  needsOwnServer: true,
  async run(environment) {
    const kills = environment.short ? 1 : 20;
    const databaseKills = environment.kind === 'embedded' ? 0 : environment.short ? 1 : 6;
    const site = await Site.open(environment);
    const build = await site.client.publish({ order: ORDER, check: CHECK });
    const orders = new Orders(build, () => site);
    for (let kill = 0; kill < kills; kill += 1) {
      await killService(site, orders);
    }
    for (let kill = 0; kill < databaseKills; kill += 1) {
      await killDatabase(environment, site, orders);
    }
    await orders.finish(CALLERS, LONGEST_FINISH_MS);
    await site.drained();
    // In a few rounds beside other proofs the callers may come one by one.
    prove(environment.short || site.shared > 0, 'no group was written before a kill');
    const events = checkFinished(await site.rows.instances(), orders.all);
    await site.close();
    return (
      `${kills} kills of the service, ${databaseKills} of the database: ${orders.acknowledged} steps acknowledged, ${site.shared} writes in groups before kills, ` +
      `${orders.brokenOff} broken off; ${orders.all.length} instances and as many called, ${events} events; 0 lost, 0 gaps, ` +
      `0 without a live token, 0 jobs left, every timer and call once`
    );
  },
};

/** The service that is killed and started again on one database. */
class Site implements Target {
  /** Writes that shared a transaction, as far as somebody has looked. */
  shared = 0;

  private constructor(
    private readonly environment: ProofEnvironment,
    private readonly databaseUrl: string,
    public rows: ProcessRows,
    private service: ServiceProcess,
    public client: ProcessClient,
  ) {}

  static async open(environment: ProofEnvironment): Promise<Site> {
    const databaseUrl = await environment.emptyDatabase();
    const service = await environment.startService(databaseUrl, SETTINGS);
    const client = new ProcessClient(service.url, await environment.token());
    return new Site(environment, databaseUrl, await ProcessRows.open(databaseUrl), service, client);
  }

  async kill(): Promise<void> {
    await this.service.kill('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.client.close();
    this.service = await this.environment.startService(this.databaseUrl, SETTINGS);
    this.client = new ProcessClient(this.service.url, await this.environment.token());
  }

  /** To be called when the database was away. */
  async readAgain(): Promise<void> {
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

  get isRunning(): boolean {
    return !this.service.hasEnded;
  }

  async close(): Promise<void> {
    await Promise.all([this.client.close(), this.rows.close()]);
  }
}

async function killService(site: Site, orders: Orders): Promise<void> {
  const load = orders.run(CALLERS);
  await Promise.race([load, sleep(200 + 800 * Math.random())]);
  await site.countGroups();
  await site.kill();
  orders.pause();
  await load;
  checkAtRest(await site.rows.instances(), orders.all);
  await site.restart();
}

async function killDatabase({ server }: ProofEnvironment, site: Site, orders: Orders): Promise<void> {
  orders.databaseMayFail = true;
  const load = orders.run(CALLERS);
  await Promise.race([load, sleep(300 + 700 * Math.random())]);
  await server?.kill('SIGKILL');
  await Promise.race([load, sleep(DOWN_MS)]);
  await server?.restart();
  await site.readAgain();
  const { acknowledged } = orders;
  const back = performance.now();
  while (orders.acknowledged === acknowledged) {
    prove(
      performance.now() - back < LONGEST_RECOVERY_MS,
      `nothing acknowledged within ${LONGEST_RECOVERY_MS} ms`,
    );
    await Promise.race([load, sleep(10)]);
  }
  orders.pause();
  await load;
  prove(site.isRunning, 'the service ended with the database');
  checkAtRest(await site.rows.instances(), orders.all);
}

/** What must hold at any moment: rows that agree with each other, and everything that was acknowledged. */
function checkAtRest(stored: readonly StoredInstance[], orders: readonly Order[]): void {
  stored.forEach(checkRows);
  const instances = new Map(stored.map((instance) => [instance.row.uuid, instance]));
  for (const { name, place, done } of orders) {
    const instance = instances.get(place?.process ?? '');
    prove(place === undefined || instance !== undefined, `the start of ${name} was acknowledged and is lost`);
    for (const task of done) {
      prove(
        instance?.state.data[task] === `${name}-${task}` && executions(instance, task) === 1,
        `${task} of ${name} was acknowledged and is lost`,
      );
    }
  }
}

/**
 * What must hold when every order has come to its end: each step and each job has had its effect once.
 * @returns how many events were looked at
 */
function checkFinished(stored: readonly StoredInstance[], orders: readonly Order[]): number {
  checkAtRest(stored, orders);
  const started = stored.filter(({ row }) => row.processName === 'order');
  const called = stored.filter(({ row }) => row.processName === 'check');
  const names = new Set(started.map(({ state }) => state.data['order']));
  prove(
    started.length === orders.length && names.size === orders.length,
    `${started.length} instances of ${names.size} orders are stored for ${orders.length} that were started`,
  );
  const children = new Map(called.map((child) => [child.row.parentId ?? undefined, child]));
  prove(
    called.length === started.length && children.size === called.length,
    `${called.length} processes were called for ${children.size} of ${started.length} instances`,
  );
  for (const instance of started) {
    checkOrder(instance, children.get(instance.row.id));
  }
  return stored.reduce((sum, { events }) => sum + events.length, 0);
}

function checkOrder(instance: StoredInstance, child: StoredInstance | undefined): void {
  const { state, row } = instance;
  const name = String(state.data['order']);
  prove(row.state === 'FINISHED' && child?.row.state === 'FINISHED', `${name} is ${row.state}`);
  prove(row.content.joins.length === 0, `${name} has ended with tokens at a join`);
  const checked = state.data['checked'] as { checks?: unknown } | undefined;
  const effects = {
    timer: count(instance, 'TIMER_FIRED'),
    tick: Number(state.data['ticks']),
    call: count(instance, 'CHILD_STARTED'),
    answer: count(instance, 'CHILD_ENDED'),
    check: Number(checked?.checks),
    apply: executions(instance, 'apply'),
    left: executions(instance, 'left'),
    sign: executions(instance, 'sign'),
    join: entries(instance, 'sign'),
  };
  prove(
    Object.values(effects).every((times) => times === 1),
    `effects of ${name} are not there once each: ${JSON.stringify(effects)}`,
  );
}

/** How often an action of a node was executed. */
function executions({ events, definition }: StoredInstance, key: string): number {
  return events.filter(
    ({ kind, node }) => kind === 'ACTION_EXECUTED' && definition.node(node ?? -1).key === key,
  ).length;
}
