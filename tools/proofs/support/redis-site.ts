import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisGroup } from './redis-groups.js';
import { checkOrders, FailoverLoad, launchReplica, type RunningReplica } from './failover-load.js';
import { CHECK, DUE_ORDER } from './process-models.js';
import type { ProofEnvironment } from './proof-environment.js';
import { prove } from './proof.js';
import { Agent, request } from 'undici';

const TESTS = 6;
const POLL_MS = 100;
const DETECTION_TIMEOUT_MS = 60_000;
const TEST_PATH =
  '/appmanager/api/runtime-internal/app/none/app-version/v1/rt/system/integrationengine/api/systems/test-mcp-connection';

/** Low limits of a caller, and others that are counted on each request but never reached. */
const LIMIT_SETTINGS = {
  'httpLimits.connectionTestsPerMinute': String(TESTS),
  RATE_LIMIT_PRINCIPAL_PER_MINUTE: '1000000',
  RATE_LIMIT_ADDRESS_PER_MINUTE: '1000000',
  'httpLimits.callerRequests': '1000',
  'httpLimits.refusalDelayMs': '0',
};

const SETTINGS = {
  ...LIMIT_SETTINGS,
  'jobLimits.leaseMs': '2000',
  'jobLimits.retryBaseMs': '50',
};
/** Settings of each replica. The last one only serves requests; the others run its jobs. */
const REPLICAS: readonly Record<string, string>[] = [{}, {}, { JOBS_CONCURRENCY: '0' }];
const MAX_TIMER_MS = 3_000;
const FAILOVER_TIMEOUT_MS = 60_000;
/** Hard limit. A long round is measured completely before it fails for {@link MAX_RESUME_MS}. */
const RESUME_TIMEOUT_MS = 60_000;
const MAX_RESUME_MS = 2_000;
const RUNNING_MS = 1_000;
const SHORT_RUNNING_MS = 300;

type Fault = 'killed' | 'emptied' | 'without memory' | 'failed over' | 'replica of the service killed';

/** Results of a round. */
export interface RedisRound {
  figures: string;
  /** Faults after which writes did not resume within 2 seconds. */
  late: string[];
  /** Number of times a replica was not ready. */
  notReady: number;
}

/** Three replicas of the service on one Redis group with failover, under load. */
export class RedisSite {
  private readonly faults: { fault: Fault; resumeMs: number }[] = [];
  private readonly limitTimes = { alone: 0, together: 0 };
  private victim = 0;

  private constructor(
    private readonly environment: ProofEnvironment,
    private readonly group: RedisGroup,
    private readonly databaseUrl: string,
    private readonly replicas: RunningReplica[],
    private readonly load: FailoverLoad,
    private readonly limits: SharedLimits,
    private readonly primaryCount: number,
  ) {}

  static async open(environment: ProofEnvironment, group: RedisGroup): Promise<RedisSite> {
    const databaseUrl = await environment.emptyDatabase();
    const replicas = await Promise.all(
      REPLICAS.map((own) => launchReplica(environment, databaseUrl, settingsOf(own, group))),
    );
    const [first, , last] = replicas as [RunningReplica, RunningReplica, RunningReplica];
    const build = await first.client.publish({ order: DUE_ORDER, check: CHECK });
    const data = (): Record<string, unknown> => ({ due: inAtMost(MAX_TIMER_MS) });
    const load = new FailoverLoad(replicas, build, { isLight: environment.short, data });
    const urls = (): [string, string] => [first.service.url, last.service.url];
    const limits = new SharedLimits(environment, urls);
    await limits.until('together');
    load.begin();
    const { length: primaryCount } = await group.primaries();
    return new RedisSite(environment, group, databaseUrl, replicas, load, limits, primaryCount);
  }

  /** Causes each Redis fault once. */
  async round(): Promise<void> {
    await this.kill();
    await this.empty();
    await this.fill();
    await this.failOver();
  }

  /** Ends the load and checks the stored orders. Returns the figures and the outages that were too long. */
  async finish(): Promise<RedisRound> {
    const { load, replicas, limits } = this;
    await this.runNormally();
    await load.end();
    prove(!replicas.some(({ service }) => service.hasEnded), 'a replica exited with Redis');
    await checkOrders(this.databaseUrl, load.finished);
    const { all, notReady } = load.readinessChecks;
    const unexpected = [...load.statuses.keys()].filter((status) => status !== 200 && status !== 0);
    prove(unexpected.length === 0, `answered ${unexpected.join(', ')}`);
    await Promise.all([limits.close(), ...replicas.map(({ client }) => client.close())]);
    await Promise.all(replicas.map(({ service }) => service.kill('SIGTERM')));
    const figures =
      `${this.formatFaults()}; ${load.finished.size} orders acknowledged, all responses within ` +
      `${load.slowestMs.toFixed(0)} ms, ${load.statuses.get(0) ?? 0} interrupted; ready in ${all - notReady} of ${all} checks; ` +
      `limits counted per replica within ${this.limitTimes.alone.toFixed(0)} ms, globally again within ` +
      `${this.limitTimes.together.toFixed(0)} ms after Redis recovered`;
    const late = this.faults.filter(({ resumeMs }) => resumeMs > MAX_RESUME_MS);
    return {
      figures,
      notReady,
      late: late.map(({ fault, resumeMs }) => `${fault} ${resumeMs.toFixed(0)} ms`),
    };
  }

  /** Kills all servers simultaneously and restarts them after a while. */
  private async kill(): Promise<void> {
    const { servers } = this.group;
    await this.causeFault('killed', () => Promise.all(servers.map((server) => server.kill())));
    await this.waitUntilAlone();
    await this.runNormally();
    await Promise.all(servers.map((server) => server.restart()));
    await this.waitUntilTogether();
  }

  private async empty(): Promise<void> {
    await this.causeFault('emptied', () => this.sendToPrimaries('flushall'));
    await this.unlessShort(() => this.waitUntilTogether());
  }

  private async fill(): Promise<void> {
    await this.causeFault('without memory', () => this.sendToPrimaries('config', 'set', 'maxmemory', '1'));
    await this.unlessShort(() => this.waitUntilAlone());
    await this.sendToPrimaries('config', 'set', 'maxmemory', '0');
    await this.unlessShort(() => this.waitUntilTogether());
  }

  private async failOver(): Promise<void> {
    const { group } = this;
    const before = await this.primaries();
    const gone = before[0] ?? 0;
    const server = group.servers[group.ports.indexOf(gone)];
    await this.causeFault('failed over', () => server?.kill());
    const begin = performance.now();
    while ((await group.primaries()).every((port) => before.includes(port))) {
      prove(performance.now() - begin < FAILOVER_TIMEOUT_MS, 'no other server took over');
      await sleep(100);
    }
    await this.waitUntilTogether();
    await server?.restart();
    await this.runNormally();
  }

  /**
   * Waits for the expected number of primaries, since a restarted server considers itself primary until the others correct
   * it.
   */
  private async primaries(): Promise<number[]> {
    const begin = performance.now();
    for (;;) {
      const ports = await this.group.primaries();
      if (ports.length === this.primaryCount) {
        return ports;
      }
      prove(performance.now() - begin < FAILOVER_TIMEOUT_MS, `there are ${ports.length} primaries`);
      await sleep(100);
    }
  }

  /** Kills a replica and restarts it. */
  async killReplica(): Promise<void> {
    const index = this.victim % REPLICAS.length;
    const replica = this.replicas[index] as RunningReplica;
    this.victim += 1;
    replica.isUp = false;
    await this.causeFault('replica of the service killed', () => replica.service.kill('SIGKILL'));
    await replica.client.close();
    const settings = settingsOf(REPLICAS[index], this.group);
    Object.assign(replica, await launchReplica(this.environment, this.databaseUrl, settings));
    await this.unlessShort(() => this.waitUntilTogether());
  }

  private async causeFault(fault: Fault, make: () => Promise<unknown> | undefined): Promise<void> {
    await this.runNormally();
    await make();
    const resumeMs = await this.load.untilNextWrite(performance.now(), RESUME_TIMEOUT_MS);
    this.faults.push({ fault, resumeMs });
    await this.runNormally();
  }

  private runNormally(): Promise<void> {
    return sleep(this.environment.short ? SHORT_RUNNING_MS : RUNNING_MS);
  }

  private async unlessShort(check: () => Promise<void>): Promise<void> {
    if (!this.environment.short) {
      await check();
    }
  }

  private async waitUntilAlone(): Promise<void> {
    this.limitTimes.alone = Math.max(this.limitTimes.alone, await this.limits.until('alone'));
  }

  private async waitUntilTogether(): Promise<void> {
    this.limitTimes.together = Math.max(this.limitTimes.together, await this.limits.until('together'));
  }

  private async sendToPrimaries(...command: string[]): Promise<void> {
    const { group } = this;
    await Promise.all((await group.primaries()).map((port) => group.ask(port, ...command)));
  }

  private formatFaults(): string {
    return [...new Set(this.faults.map(({ fault }) => fault))]
      .map((fault) => {
        const of = this.faults.filter((each) => each.fault === fault).map(({ resumeMs }) => resumeMs);
        return `${of.length} x ${fault}: next write up to ${Math.max(...of).toFixed(0)} ms later`;
      })
      .join(', ');
  }
}

/** Returns a time within the given milliseconds from now. */
function inAtMost(ms: number, part = Math.random()): string {
  return new Date(Date.now() + part * ms).toISOString();
}

function settingsOf(own: Record<string, string> | undefined, { url }: RedisGroup): Record<string, string> {
  return { ...SETTINGS, ...own, REDIS_URL: url };
}

/** Whether limits are counted by all replicas together or by each replica alone. */
export type Counting = 'together' | 'alone';

/** Determines, as a caller of two replicas, whether they count together. */
export class SharedLimits {
  private readonly agent = new Agent({ connections: 50 });
  private callers = 0;

  /** @param urls returns the URLs of two replicas */
  constructor(
    private readonly environment: ProofEnvironment,
    private readonly urls: () => [string, string],
  ) {}

  /**
   * Waits until the replicas count in the given way.
   * @returns milliseconds until then
   */
  async until(counting: Counting): Promise<number> {
    const begin = performance.now();
    for (;;) {
      const found = await this.detect();
      const afterMs = performance.now() - begin;
      if (found === counting) {
        return afterMs;
      }
      prove(afterMs < DETECTION_TIMEOUT_MS, `connection tests are counted ${found}`);
      await sleep(POLL_MS);
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async detect(): Promise<Counting> {
    const token = await this.nextCaller();
    const [one, other] = this.urls();
    const test = async (url: string): Promise<boolean> => {
      // The request is counted, then rejected because it has no body.
      const { statusCode, body } = await request(`${url}${TEST_PATH}`, {
        method: 'PATCH',
        dispatcher: this.agent,
        headers: { authorization: `Bearer ${token}` },
      });
      await body.dump();
      prove(statusCode >= 400 && statusCode < 500, `a test without a body was answered ${statusCode}`);
      return statusCode !== 429;
    };
    for (let number = 0; number < TESTS; number += 1) {
      prove(await test(one), 'a request below the limit was rejected');
    }
    prove(!(await test(one)), 'a replica does not enforce its limit');
    let letThrough = 0;
    while (letThrough < TESTS && (await test(other))) {
      letThrough += 1;
    }
    return letThrough === TESTS ? 'alone' : 'together';
  }

  private nextCaller(): Promise<string> {
    this.callers += 1;
    return this.environment.token({ sub: `limited ${this.callers}` });
  }
}
