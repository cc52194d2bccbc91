import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisGroup } from './redis-groups.js';
import { checkOrders, FailoverLoad, launchReplica, type RunningReplica } from './failover-load.js';
import { CHECK, DUE_ORDER } from './process-models.js';
import type { ProofEnvironment } from './proof-environment.js';
import { prove } from './proof.js';
import { Agent, request } from 'undici';

const TESTS = 6;
const LOOK_MS = 100;
const LONGEST_MS = 60_000;
const TEST_PATH =
  '/appmanager/api/runtime-internal/app/none/app-version/v1/rt/system/integrationengine/api/systems/test-mcp-connection';

/** Low limits of a caller, and others that are counted at each request and never reached. */
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
/** The last of them only answers requests: others do its jobs. */
const REPLICAS: readonly Record<string, string>[] = [{}, {}, { JOBS_CONCURRENCY: '0' }];
const LONGEST_TIMER_MS = 3_000;
const LONGEST_FAILOVER_MS = 60_000;
/** A long round is measured to its end before it fails for {@link LONGEST_BACK_MS}. */
const LONGEST_OUTAGE_MS = 60_000;
const LONGEST_BACK_MS = 2_000;
const RUNNING_MS = 1_000;
const SHORT_RUNNING_MS = 300;

type Fault = 'killed' | 'emptied' | 'without memory' | 'failed over' | 'replica of the service killed';

/** What a round has measured. */
export interface RedisRound {
  figures: string;
  /** Faults after which writes were not back within 2 seconds. */
  late: string[];
  /** How often a replica was not ready. */
  notReady: number;
}

/** Three replicas of the service on one Redis that fails over, under load. */
export class RedisSite {
  private readonly times: { fault: Fault; backMs: number }[] = [];
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
    const data = (): Record<string, unknown> => ({ due: inAtMost(LONGEST_TIMER_MS) });
    const load = new FailoverLoad(replicas, build, { isLight: environment.short, data });
    const urls = (): [string, string] => [first.service.url, last.service.url];
    const limits = new SharedLimits(environment, urls);
    await limits.until('together');
    load.begin();
    const { length: primaryCount } = await group.primaries();
    return new RedisSite(environment, group, databaseUrl, replicas, load, limits, primaryCount);
  }

  /** Each fault of Redis once. */
  async round(): Promise<void> {
    await this.kill();
    await this.empty();
    await this.fill();
    await this.failOver();
  }

  /** @returns the figures, and outages that were longer than they may be */
  async finish(): Promise<RedisRound> {
    const { load, replicas, limits } = this;
    await this.goesOn();
    await load.end();
    prove(!replicas.some(({ service }) => service.hasEnded), 'a replica ended with Redis');
    await checkOrders(this.databaseUrl, load.finished);
    const { all, notReady } = load.looks;
    const unexpected = [...load.statuses.keys()].filter((status) => status !== 200 && status !== 0);
    prove(unexpected.length === 0, `answered ${unexpected.join(', ')}`);
    await Promise.all([limits.close(), ...replicas.map(({ client }) => client.close())]);
    await Promise.all(replicas.map(({ service }) => service.kill('SIGTERM')));
    const figures =
      `${this.told()}; ${load.finished.size} orders acknowledged, no answer after more than ` +
      `${load.slowestMs.toFixed(0)} ms, ${load.statuses.get(0) ?? 0} broken off; ready in ${all - notReady} of ${all} looks; ` +
      `limits alone after up to ${this.limitTimes.alone.toFixed(0)} ms, together again up to ` +
      `${this.limitTimes.together.toFixed(0)} ms after Redis`;
    const late = this.times.filter(({ backMs }) => backMs > LONGEST_BACK_MS);
    return { figures, notReady, late: late.map(({ fault, backMs }) => `${fault} ${backMs.toFixed(0)} ms`) };
  }

  /** All servers at once, which stay away for a while. */
  private async kill(): Promise<void> {
    const { servers } = this.group;
    await this.goesOnAfter('killed', () => Promise.all(servers.map((server) => server.kill())));
    await this.countsAlone();
    await this.goesOn();
    await Promise.all(servers.map((server) => server.restart()));
    await this.countsTogether();
  }

  private async empty(): Promise<void> {
    await this.goesOnAfter('emptied', () => this.tellPrimaries('flushall'));
    await this.unlessShort(() => this.countsTogether());
  }

  private async fill(): Promise<void> {
    await this.goesOnAfter('without memory', () => this.tellPrimaries('config', 'set', 'maxmemory', '1'));
    await this.unlessShort(() => this.countsAlone());
    await this.tellPrimaries('config', 'set', 'maxmemory', '0');
    await this.unlessShort(() => this.countsTogether());
  }

  private async failOver(): Promise<void> {
    const { group } = this;
    const before = await this.primaries();
    const gone = before[0] ?? 0;
    const server = group.servers[group.ports.indexOf(gone)];
    await this.goesOnAfter('failed over', () => server?.kill());
    const begin = performance.now();
    while ((await group.primaries()).every((port) => before.includes(port))) {
      prove(performance.now() - begin < LONGEST_FAILOVER_MS, 'no other server took the place of one');
      await sleep(100);
    }
    await this.countsTogether();
    await server?.restart();
    await this.goesOn();
  }

  /** A server that was away takes itself for a primary until the others tell it otherwise. */
  private async primaries(): Promise<number[]> {
    const begin = performance.now();
    for (;;) {
      const ports = await this.group.primaries();
      if (ports.length === this.primaryCount) {
        return ports;
      }
      prove(performance.now() - begin < LONGEST_FAILOVER_MS, `there are ${ports.length} primaries`);
      await sleep(100);
    }
  }

  /** Kills a replica, and starts it again. */
  async killReplica(): Promise<void> {
    const index = this.victim % REPLICAS.length;
    const replica = this.replicas[index] as RunningReplica;
    this.victim += 1;
    replica.isUp = false;
    await this.goesOnAfter('replica of the service killed', () => replica.service.kill('SIGKILL'));
    await replica.client.close();
    const settings = settingsOf(REPLICAS[index], this.group);
    Object.assign(replica, await launchReplica(this.environment, this.databaseUrl, settings));
    await this.unlessShort(() => this.countsTogether());
  }

  private async goesOnAfter(fault: Fault, make: () => Promise<unknown> | undefined): Promise<void> {
    await this.goesOn();
    await make();
    const backMs = await this.load.backAfter(performance.now(), LONGEST_OUTAGE_MS);
    this.times.push({ fault, backMs });
    await this.goesOn();
  }

  private goesOn(): Promise<void> {
    return sleep(this.environment.short ? SHORT_RUNNING_MS : RUNNING_MS);
  }

  private async unlessShort(check: () => Promise<void>): Promise<void> {
    if (!this.environment.short) {
      await check();
    }
  }

  private async countsAlone(): Promise<void> {
    this.limitTimes.alone = Math.max(this.limitTimes.alone, await this.limits.until('alone'));
  }

  private async countsTogether(): Promise<void> {
    this.limitTimes.together = Math.max(this.limitTimes.together, await this.limits.until('together'));
  }

  private async tellPrimaries(...command: string[]): Promise<void> {
    const { group } = this;
    await Promise.all((await group.primaries()).map((port) => group.ask(port, ...command)));
  }

  private told(): string {
    return [...new Set(this.times.map(({ fault }) => fault))]
      .map((fault) => {
        const of = this.times.filter((each) => each.fault === fault).map(({ backMs }) => backMs);
        return `${of.length} x ${fault}: next write up to ${Math.max(...of).toFixed(0)} ms later`;
      })
      .join(', ');
  }
}

/** An instant within so many milliseconds from now. */
function inAtMost(ms: number, part = Math.random()): string {
  return new Date(Date.now() + part * ms).toISOString();
}

function settingsOf(own: Record<string, string> | undefined, { url }: RedisGroup): Record<string, string> {
  return { ...SETTINGS, ...own, REDIS_URL: url };
}

/** Who counts: all replicas together, or each by itself. */
export type Counting = 'together' | 'alone';

/** Finds out, as a caller of two replicas, whether they count together. */
export class SharedLimits {
  private readonly agent = new Agent({ connections: 50 });
  private callers = 0;

  /** @param urls of two replicas */
  constructor(
    private readonly environment: ProofEnvironment,
    private readonly urls: () => [string, string],
  ) {}

  /** @returns milliseconds until they count so */
  async until(counting: Counting): Promise<number> {
    const begin = performance.now();
    for (;;) {
      const found = await this.found();
      const afterMs = performance.now() - begin;
      if (found === counting) {
        return afterMs;
      }
      prove(afterMs < LONGEST_MS, `connection tests are counted ${found}`);
      await sleep(LOOK_MS);
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async found(): Promise<Counting> {
    const token = await this.nextCaller();
    const [one, other] = this.urls();
    const test = async (url: string): Promise<boolean> => {
      // Counted, then refused for want of a body.
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
      prove(await test(one), 'a request below the limit was refused');
    }
    prove(!(await test(one)), 'a replica does not keep to its own limit of requests');
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
