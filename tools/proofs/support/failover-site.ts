import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { scratchDatabase } from '../../../test/support/databases/start-databases.js';
import { checkOrders, FailoverLoad, launchReplica, type RunningReplica } from './failover-load.js';
import type { MysqlGroup } from './mysql-group.js';
import { CHECK, ORDER } from './process-models.js';
import type { ProofEnvironment } from './proof-environment.js';
import { prove } from './proof.js';
import { rows } from './rows.js';

const NAME = 'svc_failover';
const APP_USER = 'failover_app';
const QUIET_MS = 1_500;
/** From the new primary to the first write that is acknowledged. */
export const LONGEST_BACK_MS = 2_000;
/** Where others work on the same cores, as in a short round. A long one is measured to its end before it fails. */
const SHARED_MACHINE_BACK_MS = 60_000;
const SETTINGS = {
  'jobLimits.leaseMs': '1000',
  'jobLimits.retryBaseMs': '100',
  'jobLimits.retryMaxMs': '2000',
};

export type Fault = 'primary killed' | 'switch-over' | 'primary silent' | 'replica of the service killed';

/** What a round has measured. */
export interface Round {
  figures: string;
  /** Outages after which writes were not back within {@link LONGEST_BACK_MS}. */
  late: string[];
}

interface Outage {
  fault: Fault;
  /** For how long nobody could write. */
  withoutMs: number;
  /** From then until a write was acknowledged. */
  backMs: number;
  /** Programs that waited for a core then, on average of a minute: more than there are cores make all late. */
  load: number;
}

/** Replicas of the service on one group, under load. */
export class FailoverSite {
  private readonly times: Outage[] = [];
  private victim = 0;

  private constructor(
    private readonly environment: ProofEnvironment,
    private readonly group: MysqlGroup,
    private readonly places: readonly string[],
    private readonly replicas: RunningReplica[],
    private readonly load: FailoverLoad,
  ) {}

  /** @param places host and port by which each replica reaches the primary */
  static async open(
    environment: ProofEnvironment,
    group: MysqlGroup,
    places: readonly string[],
  ): Promise<FailoverSite> {
    await prepared(group);
    const replicas: RunningReplica[] = [];
    for (const place of places) {
      replicas.push(await launched(environment, place));
    }
    const [first] = replicas;
    const build = await (first as RunningReplica).client.publish({ order: ORDER, check: CHECK });
    const load = new FailoverLoad(replicas, build, { isLight: environment.short });
    load.begin();
    return new FailoverSite(environment, group, places, replicas, load);
  }

  /** @param make returns when somebody could write again, on the clock of `performance.now()` */
  async repeat(fault: Fault, times: number, make: () => Promise<number>): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      if (fault !== 'replica of the service killed') {
        await this.group.heal();
      }
      await sleep(QUIET_MS);
      const began = performance.now();
      const at = await make();
      const backMs = await this.load.backAfter(at, SHARED_MACHINE_BACK_MS);
      this.times.push({ fault, withoutMs: at - began, backMs, load: loadavg()[0] ?? 0 });
    }
  }

  /** Kills one replica, the other one serves on, and starts it again. */
  async killReplica(): Promise<number> {
    const index = this.victim % this.replicas.length;
    const replica = this.replicas[index] as RunningReplica;
    this.victim += 1;
    replica.isUp = false;
    await replica.service.kill('SIGKILL');
    const at = performance.now();
    await this.load.backAfter(at, SHARED_MACHINE_BACK_MS);
    await replica.client.close();
    Object.assign(replica, await launched(this.environment, this.places[index] as string));
    return at;
  }

  /** @returns the figures, and outages that were longer than they may be */
  async finish(): Promise<Round> {
    const { load, replicas } = this;
    await sleep(QUIET_MS);
    await load.end();
    prove(!replicas.some(({ service }) => service.hasEnded), 'a replica of the service ended');
    await checkOrders(`${this.group.primaryUrl}${NAME}`, load.finished);
    await Promise.all(replicas.map(({ service }) => service.ready()));
    await Promise.all(replicas.map(({ client }) => client.close()));
    await Promise.all(replicas.map(({ service }) => service.kill('SIGTERM')));
    const answers = [...load.statuses].map(
      ([status, times]) => `${times} x ${status === 0 ? 'broken off' : status}`,
    );
    const figures =
      `${this.told()}; ${load.finished.size} orders acknowledged, 0 lost, 0 twice, ` +
      `0 jobs lost or done twice; ${answers.join(', ')}; not ready in ${load.looks.notReady} of ${load.looks.all} looks`;
    return { figures, late: this.late() };
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

  private late(): string[] {
    return this.times
      .filter(({ backMs }) => backMs > LONGEST_BACK_MS)
      .map(({ fault, backMs, load }) => `${fault} ${backMs.toFixed(0)} ms, load ${load.toFixed(1)}`);
  }
}

/** An empty database, and a user with the rights of docs/operations.md and no others. */
async function prepared(group: MysqlGroup): Promise<void> {
  await scratchDatabase(group.primaryUrl, NAME);
  const account = `'${APP_USER}'@'127.0.0.1'`;
  for (const statement of [
    `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '${APP_USER}'`,
    `GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES ON ${NAME}.* TO ${account}`,
  ]) {
    await rows(group.primaryUrl, statement);
  }
}

function launched(environment: ProofEnvironment, place: string): Promise<RunningReplica> {
  return launchReplica(environment, `mysql://${APP_USER}:${APP_USER}@${place}/${NAME}`, SETTINGS);
}
