import { setTimeout as sleep } from 'node:timers/promises';
import { scratchDatabase } from '../support/databases/scratch-database.js';
import { FailoverLoad, type Replica } from './support/failover-load.js';
import { MysqlGroup } from './support/mysql-group.js';
import { count, entries } from './support/process-checks.js';
import { ProcessClient } from './support/process-client.js';
import { CHECK, ORDER } from './support/process-models.js';
import { ProcessRows, type StoredInstance } from './support/process-rows.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import { rows } from './support/rows.js';
import type { ServiceProcess } from './support/service-process.js';

const NAME = 'svc_failover';
const APP_USER = 'failover_app';
const QUIET_MS = 1_500;
const LONGEST_BACK_MS = 2_000;
/** Where others work on the same cores, as in a short round. */
const SHARED_MACHINE_BACK_MS = 15_000;
const LONGEST_DRAIN_MS = 60_000;
const SETTINGS = { JOBS_LEASE_MS: '1000', JOBS_RETRY_BASE_MS: '100', JOBS_RETRY_MAX_MS: '2000' };
const REPLICAS = 2;

type Fault = 'primary killed' | 'switch-over' | 'primary silent' | 'replica of the service killed';

export const proof: Proof = {
  name: 'failover',
  claim:
    'two replicas of the service follow the writer of a replication group by DATABASE_URL alone: nothing acknowledged is lost or done twice, no job is lost, and they stay ready',
  databases: ['mysql'],
  takesLong: true,
  async run(environment) {
    const plugin = await MysqlGroup.pluginFolder();
    if (plugin === undefined) {
      prove(process.env['CI'] === undefined, 'the MySQL of this host has no plugin group_replication');
      return 'skipped: the MySQL of this host has no plugin group_replication';
    }
    const group = await MysqlGroup.start(plugin);
    try {
      const site = await Site.open(environment, group);
      const { short } = environment;
      await site.repeat('switch-over', short ? 1 : 10, () => group.switchOver());
      await site.repeat('primary silent', short ? 1 : 3, () => group.stopPrimary());
      await site.repeat('primary killed', short ? 1 : 10, () => group.killPrimary());
      await site.repeat('replica of the service killed', short ? 1 : 5, () => site.killReplica());
      return await site.finish();
    } finally {
      await group.stop();
    }
  },
};

/** Two replicas of the service on one group, under load. */
class Site {
  private readonly times: { fault: Fault; withoutMs: number; backMs: number }[] = [];
  private victim = 0;

  private constructor(
    private readonly environment: ProofEnvironment,
    private readonly group: MysqlGroup,
    private readonly databaseUrl: string,
    private readonly replicas: (Replica & { service: ServiceProcess })[],
    private readonly load: FailoverLoad,
  ) {}

  static async open(environment: ProofEnvironment, group: MysqlGroup): Promise<Site> {
    const databaseUrl = await prepared(group);
    const replicas: Site['replicas'] = [];
    for (let index = 0; index < REPLICAS; index += 1) {
      replicas.push(await launched(environment, databaseUrl));
    }
    const [first] = replicas;
    const build = await (first as Replica).client.publish({ order: ORDER, check: CHECK });
    const load = new FailoverLoad(replicas, build, environment.short);
    load.begin();
    return new Site(environment, group, databaseUrl, replicas, load);
  }

  /** @param make returns when somebody could write again, on the clock of `performance.now()` */
  async repeat(fault: Fault, times: number, make: () => Promise<number>): Promise<void> {
    const limitMs = this.environment.short ? SHARED_MACHINE_BACK_MS : LONGEST_BACK_MS;
    for (let time = 0; time < times; time += 1) {
      if (fault !== 'replica of the service killed') {
        await this.group.heal();
      }
      await sleep(QUIET_MS);
      const began = performance.now();
      const at = await make();
      const took = await this.load.backAfter(at, limitMs);
      this.times.push({ fault, withoutMs: at - began, backMs: took });
    }
  }

  /** Kills one replica, the other one serves on, and starts it again. */
  async killReplica(): Promise<number> {
    const replica = this.replicas[this.victim % REPLICAS] as Site['replicas'][number];
    this.victim += 1;
    replica.isUp = false;
    await replica.service.kill('SIGKILL');
    const at = performance.now();
    await this.load.backAfter(at, LONGEST_BACK_MS);
    await replica.client.close();
    Object.assign(replica, await launched(this.environment, this.databaseUrl));
    return at;
  }

  /** @returns the figures */
  async finish(): Promise<string> {
    const { load, replicas } = this;
    await sleep(QUIET_MS);
    await load.end();
    prove(!replicas.some(({ service }) => service.hasEnded), 'a replica of the service ended');
    await this.checkStored();
    const { all, notReady } = load.looks;
    prove(notReady === 0, `not ready in ${notReady} of ${all} looks`);
    await Promise.all(replicas.map(({ client }) => client.close()));
    const answers = [...load.statuses].map(
      ([status, times]) => `${times} x ${status === 0 ? 'broken off' : status}`,
    );
    return (
      `${this.told()}; ${load.finished.size} orders acknowledged, 0 lost, 0 twice, ` +
      `0 jobs lost or done twice; ${answers.join(', ')}; ready in all of ${all} looks`
    );
  }

  /** Each fault, how often, for how long at most no server took writes, and how long the service took from then on. */
  private told(): string {
    const faults = [...new Set(this.times.map(({ fault }) => fault))];
    return faults
      .map((fault) => {
        const of = this.times.filter((each) => each.fault === fault);
        const [without, back] = (['withoutMs', 'backMs'] as const).map((name) =>
          Math.max(...of.map((each) => each[name])).toFixed(0),
        );
        return `${of.length} x ${fault}: no writer for up to ${without} ms, writes back up to ${back} ms later`;
      })
      .join('; ');
  }

  private async checkStored(): Promise<void> {
    const reader = await ProcessRows.open(`${this.group.primaryUrl}${NAME}`);
    const deadline = performance.now() + LONGEST_DRAIN_MS;
    let orders = await ordersOf(reader);
    while (orders.some((order) => !isAtRest(order)) && performance.now() < deadline) {
      await sleep(250);
      orders = await ordersOf(reader);
    }
    await reader.close();
    const { finished } = this.load;
    const stored = new Set(orders.map(({ row }) => row.uuid));
    const lost = [...finished].filter((uuid) => !stored.has(uuid));
    prove(lost.length === 0, `${lost.length} acknowledged orders are lost`);
    prove(orders.length === finished.size, `${orders.length} orders for ${finished.size} keys`);
    const undone = orders.filter((order) => !isAtRest(order));
    prove(
      undone.length === 0,
      `${undone.length} orders made a step or a job not once: ${undone.map(told).join(', ')}`,
    );
  }
}

/** An empty database, and a user with the rights of docs/operations.md and no others. */
async function prepared(group: MysqlGroup): Promise<string> {
  await scratchDatabase(group.primaryUrl, NAME);
  const account = `'${APP_USER}'@'127.0.0.1'`;
  for (const statement of [
    `CREATE USER ${account} IDENTIFIED BY '${APP_USER}'`,
    `GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES ON ${NAME}.* TO ${account}`,
    `GRANT SELECT ON performance_schema.replication_group_members TO ${account}`,
  ]) {
    await rows(group.primaryUrl, statement);
  }
  return group.hostsUrl(APP_USER, NAME);
}

async function launched(
  environment: ProofEnvironment,
  databaseUrl: string,
): Promise<Replica & { service: ServiceProcess }> {
  const service = await environment.startService(databaseUrl, SETTINGS);
  const client = new ProcessClient(service.url, await environment.token());
  return { client, service, isUp: true, isReady: () => service.isReady() };
}

async function ordersOf(reader: ProcessRows): Promise<StoredInstance[]> {
  return (await reader.instances()).filter(({ row }) => row.processName === 'order');
}

/** Where the work of the background is done: what it left, once each. */
function isAtRest(order: StoredInstance): boolean {
  return Object.values(effects(order)).every((times) => times === 1);
}

function effects(order: StoredInstance): Record<string, number> {
  return {
    apply: entries(order, 'left'),
    timer: count(order, 'TIMER_FIRED'),
    tick: Number(order.state.data['ticks']),
    call: count(order, 'CHILD_STARTED'),
    answer: count(order, 'CHILD_ENDED'),
  };
}

function told(order: StoredInstance): string {
  return JSON.stringify(effects(order));
}
