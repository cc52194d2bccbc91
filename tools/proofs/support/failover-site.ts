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
/** Maximum time from a new primary to the first acknowledged write. */
export const MAX_RESUME_MS = 2_000;
/** Hard limit. Short runs share the processors with other proofs, and a long run is measured completely before it fails. */
const RESUME_TIMEOUT_MS = 60_000;
const SETTINGS = {
  'jobLimits.leaseMs': '1000',
  'jobLimits.retryBaseMs': '100',
  'jobLimits.retryMaxMs': '2000',
};

export type Fault = 'primary killed' | 'switch-over' | 'primary silent' | 'replica of the service killed';

/** Results of a round. */
export interface Round {
  figures: string;
  /** Outages after which writes did not resume within {@link MAX_RESUME_MS}. */
  late: string[];
}

interface Outage {
  fault: Fault;
  /** Time without a writable server. */
  outageMs: number;
  /** Time from then until the first acknowledged write. */
  resumeMs: number;
  /** Load average of the last minute. If it exceeds the number of cores, everything is delayed. */
  load: number;
}

/** Replicas of the service on one replication group, under load. */
export class FailoverSite {
  private readonly outages: Outage[] = [];
  private victim = 0;

  private constructor(
    private readonly environment: ProofEnvironment,
    private readonly group: MysqlGroup,
    private readonly places: readonly string[],
    private readonly replicas: RunningReplica[],
    private readonly load: FailoverLoad,
  ) {}

  /** @param places host and port through which each replica reaches the primary */
  static async open(
    environment: ProofEnvironment,
    group: MysqlGroup,
    places: readonly string[],
  ): Promise<FailoverSite> {
    await prepare(group);
    const replicas: RunningReplica[] = [];
    for (const place of places) {
      replicas.push(await launch(environment, place));
    }
    const [first] = replicas;
    const build = await (first as RunningReplica).client.publish({ order: ORDER, check: CHECK });
    const load = new FailoverLoad(replicas, build, { isLight: environment.short });
    load.begin();
    return new FailoverSite(environment, group, places, replicas, load);
  }

  /**
   * Causes a fault repeatedly and measures the outages.
   * @param make causes the fault and returns when writes were possible again, by `performance.now()`
   */
  async repeat(fault: Fault, times: number, make: () => Promise<number>): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      if (fault !== 'replica of the service killed') {
        await this.group.heal();
      }
      await sleep(QUIET_MS);
      const began = performance.now();
      const at = await make();
      const resumeMs = await this.load.untilNextWrite(at, RESUME_TIMEOUT_MS);
      this.outages.push({ fault, outageMs: at - began, resumeMs, load: loadavg()[0] ?? 0 });
    }
  }

  /** Kills one replica while the others keep serving, then restarts it. */
  async killReplica(): Promise<number> {
    const index = this.victim % this.replicas.length;
    const replica = this.replicas[index] as RunningReplica;
    this.victim += 1;
    replica.isUp = false;
    await replica.service.kill('SIGKILL');
    const at = performance.now();
    await this.load.untilNextWrite(at, RESUME_TIMEOUT_MS);
    await replica.client.close();
    Object.assign(replica, await launch(this.environment, this.places[index] as string));
    return at;
  }

  /** Ends the load and checks the stored orders. Returns the figures and the outages that were too long. */
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
      ([status, count]) => `${count} x ${status === 0 ? 'interrupted' : status}`,
    );
    const figures =
      `${this.formatOutages()}; ${load.finished.size} orders acknowledged, 0 lost, 0 duplicated, ` +
      `0 jobs lost or repeated; ${answers.join(', ')}; not ready in ${load.readinessChecks.notReady} of ${load.readinessChecks.all} checks`;
    return { figures, late: this.late() };
  }

  /**
   * Returns for each fault its number, the maximum time without a writable server, and the maximum time until writes
   * resumed.
   */
  private formatOutages(): string {
    const faults = [...new Set(this.outages.map(({ fault }) => fault))];
    return faults
      .map((fault) => {
        const of = this.outages.filter((each) => each.fault === fault);
        const [without, back] = (['outageMs', 'resumeMs'] as const).map((name) =>
          Math.max(...of.map((each) => each[name])).toFixed(0),
        );
        return `${of.length} x ${fault}: not writable for up to ${without} ms, writes resumed up to ${back} ms later`;
      })
      .join('; ');
  }

  private late(): string[] {
    return this.outages
      .filter(({ resumeMs }) => resumeMs > MAX_RESUME_MS)
      .map(({ fault, resumeMs, load }) => `${fault} ${resumeMs.toFixed(0)} ms, load ${load.toFixed(1)}`);
  }
}

/** Creates an empty database, and a user with exactly the privileges in docs/operations.md. */
async function prepare(group: MysqlGroup): Promise<void> {
  await scratchDatabase(group.primaryUrl, NAME);
  const account = `'${APP_USER}'@'127.0.0.1'`;
  for (const statement of [
    `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '${APP_USER}'`,
    `GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES ON ${NAME}.* TO ${account}`,
  ]) {
    await rows(group.primaryUrl, statement);
  }
}

function launch(environment: ProofEnvironment, place: string): Promise<RunningReplica> {
  return launchReplica(environment, `mysql://${APP_USER}:${APP_USER}@${place}/${NAME}`, SETTINGS);
}
