import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, startSentinelGroup, type RedisGroup } from '../support/discovery/redis-groups.js';
import { count } from './support/process-checks.js';
import { ProcessClient } from './support/process-client.js';
import { PAUSED } from './support/process-models.js';
import { ProcessRows } from './support/process-rows.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';

const GROUPS = ['Sentinels', 'cluster'];
const CALLERS = 8;
const PAUSE_MS = 20;
const RUNNING_MS = 1_000;
const SHORT_RUNNING_MS = 500;
const LONGEST_TIMER_MS = 3_000;
const LONGEST_FAILOVER_MS = 30_000;
const LONGEST_START_MS = 10_000;
const LONGEST_FINISH_MS = 60_000;
const SETTINGS = { JOBS_LEASE_MS: '2000', JOBS_SWEEP_MS: '500', JOBS_RETRY_BASE_MS: '50' };

export const proof: Proof = {
  name: 'redis',
  claim:
    'Redis that is killed, emptied, full and failed over by Sentinels and in a cluster, under the load of two replicas, loses no background job and does none twice',
  databases: ['mysql', 'mariadb'],
  shortDatabases: ['mysql'],
  takesLong: true,
  async run(environment) {
    const rounds = environment.short ? 1 : 5;
    const groups = await Promise.all([startSentinelGroup(), startCluster()]);
    const figures: string[] = [];
    try {
      for (const [index, group] of groups.entries()) {
        figures.push(`${GROUPS[index]}: ${await proveWith(environment, group, rounds)}`);
      }
    } finally {
      await Promise.all(groups.map((group) => group.stop()));
    }
    return `${rounds} x killed, emptied, full, failed over; ${figures.join('; ')}; 0 lost, 0 twice`;
  },
};

/** @returns the figures measured */
async function proveWith(environment: ProofEnvironment, group: RedisGroup, rounds: number): Promise<string> {
  const databaseUrl = await environment.emptyDatabase();
  const settings = { ...SETTINGS, REDIS_URL: group.url };
  const [first, second] = await Promise.all([
    environment.startService(databaseUrl, settings),
    environment.startService(databaseUrl, settings),
  ]);
  const token = await environment.token();
  const clients = [first, second].map(({ url }) => new ProcessClient(url, token));
  const build = (await clients[0]?.publish({ paused: PAUSED })) ?? '';
  const load = new Starts(clients, build, environment.short ? SHORT_RUNNING_MS : RUNNING_MS);
  const work = load.run();
  for (let round = 0; round < rounds; round += 1) {
    await disturb(group, load);
  }
  load.isOver = true;
  await work;
  const rows = await ProcessRows.open(databaseUrl);
  await checkFinished(rows, load.started);
  await rows.close();
  await Promise.all(clients.map((client) => client.close()));
  prove(!first.hasEnded && !second.hasEnded, 'a replica ended with Redis');
  await Promise.all([first.kill('SIGTERM'), second.kill('SIGTERM')]);
  return `${load.started.size} timers`;
}

/** Kills a server and has it back, empties all, leaves them no memory, and kills one until another has taken its place. */
async function disturb(group: RedisGroup, load: Starts): Promise<void> {
  await load.goesOn();
  const [killed = 0] = await group.primaries();
  await serverOf(group, killed)?.restart();
  await load.goesOn();
  await tellAll(group, 'flushall');
  await load.goesOn();
  await tellAll(group, 'config', 'set', 'maxmemory', '1');
  await load.goesOn();
  await tellAll(group, 'config', 'set', 'maxmemory', '0');
  await load.goesOn();
  const before = await group.primaries();
  const [gone = 0] = before;
  await serverOf(group, gone)?.kill();
  const begin = performance.now();
  while ((await group.primaries()).every((port) => before.includes(port))) {
    prove(
      performance.now() - begin < LONGEST_FAILOVER_MS,
      'no other server took the place of the one that is gone',
    );
    await sleep(100);
  }
  await load.goesOn();
  await serverOf(group, gone)?.restart();
  await load.goesOn();
}

async function tellAll(group: RedisGroup, ...command: string[]): Promise<void> {
  await Promise.all((await group.primaries()).map((port) => group.ask(port, ...command)));
}

function serverOf({ servers, ports }: RedisGroup, port: number): RedisGroup['servers'][number] | undefined {
  return servers[ports.indexOf(port)];
}

/** Callers of both replicas who start processes that wait for a timer. */
class Starts {
  readonly started = new Set<string>();
  isOver = false;
  private failure: unknown;

  constructor(
    private readonly clients: readonly ProcessClient[],
    private readonly build: string,
    private readonly runningMs: number,
  ) {}

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: CALLERS }, (_, index) => this.call(index))).catch(
      (error: unknown) => {
        this.failure = error;
      },
    );
  }

  /** Lets the load go on for a while. @throws when a caller was answered a fault */
  async goesOn(): Promise<void> {
    const { size } = this.started;
    await sleep(this.runningMs);
    for (
      const deadline = performance.now() + LONGEST_START_MS;
      this.failure === undefined && this.started.size === size;
      await sleep(PAUSE_MS)
    ) {
      prove(performance.now() < deadline, 'nothing was started');
    }
    if (this.failure !== undefined) {
      throw this.failure as Error;
    }
  }

  private async call(caller: number): Promise<void> {
    const client = this.clients[caller % this.clients.length];
    prove(client !== undefined, 'there is no replica');
    while (!this.isOver) {
      const due = new Date(Date.now() + Math.random() * LONGEST_TIMER_MS).toISOString();
      const { status, body, text } = await client.start(this.build, 'paused', { due, ticks: 0 });
      prove(status === 201 || status === 200, `a start was answered ${status}: ${text}`);
      this.started.add(String(body['uuid']));
      await sleep(PAUSE_MS);
    }
  }
}

async function checkFinished(rows: ProcessRows, started: ReadonlySet<string>): Promise<void> {
  const deadline = performance.now() + LONGEST_FINISH_MS;
  let stored = await rows.instances();
  while (stored.some(({ row, jobs }) => row.endedAt === null || jobs.length > 0)) {
    const open = stored.filter(({ row }) => row.endedAt === null).length;
    prove(performance.now() < deadline, `${open} of ${stored.length} have not ended`);
    await sleep(200);
    stored = await rows.instances();
  }
  prove(stored.length === started.size, `${stored.length} instances are stored for ${started.size} starts`);
  for (const instance of stored) {
    const fired = count(instance, 'TIMER_FIRED');
    const { ticks } = instance.state.data as { ticks?: unknown };
    prove(
      instance.row.state === 'FINISHED' && fired === 1 && Number(ticks) === 1,
      `${instance.row.uuid} is ${instance.row.state}, its timer fired ${fired} times and was counted ${String(ticks)} times`,
    );
  }
}
