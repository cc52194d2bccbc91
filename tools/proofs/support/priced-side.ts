import { setTimeout as sleep } from 'node:timers/promises';
import { agentPackage } from './agent-orders.js';
import type { CountingPeer } from './helper-process.js';
import { median, doNumbered, prove } from './proof.js';
import { APP, firstPlace, ProcessClient, type Place, type Reply } from './process-client.js';
import { APPROVAL, CHECK, ORDER, UI_ACTIONS, type UserTask } from './process-models.js';
import type { ProofEnvironment } from './proof-environment.js';
import type { ServiceProcess } from './service-process.js';
import { request } from 'undici';
import type { Vtcombo } from '../../../test/support/databases/vtcombo.js';

const CALLERS = 16;
const LOOK_MS = 50;
const LONGEST_WAIT_MS = 120_000;
/** Timers and workflows come to their turn soon. */
const SETTINGS = { 'jobLimits.pollMs': '50', EGRESS_ALLOW: '127.0.0.1', 'mcpLimits.testTimeoutMs': '60000' };
const MODELS = { approval: APPROVAL, order: ORDER, check: CHECK };

/** What callers do, and what is timed. */
export const PRICED = ['starts', 'UI actions', 'readings', 'histories'] as const;
type Priced = (typeof PRICED)[number];

/** Where a service runs. */
export interface SideAddress {
  databaseUrl: string;
  settings: Record<string, string>;
}

/** What agents ask. */
export interface AgentPeers {
  model: CountingPeer;
  tools: CountingPeer;
}

/** Figures of one kind of call. */
export interface Price {
  perSecond: number;
  p50: number;
}

/** One service on one database, with callers who do the same on every side. */
export class PricedSide {
  private rates: Record<Priced, number[]> = noFigures();
  private waits: Record<Priced, number[]> = noFigures();

  private constructor(
    private readonly service: ServiceProcess,
    private readonly client: ProcessClient,
    private readonly build: string,
  ) {}

  static async open(
    environment: ProofEnvironment,
    { databaseUrl, settings }: SideAddress,
    { model, tools }: AgentPeers,
  ): Promise<PricedSide> {
    const llm = { LLM_BASE_URL: model.url, LLM_MODEL: 'orders' };
    const service = await environment.startService(databaseUrl, { ...SETTINGS, ...llm, ...settings });
    const client = new ProcessClient(service.url, await environment.token(), CALLERS);
    const contents = agentPackage(APP, tools.url);
    const own = Object.entries(MODELS).map(([name, bpmn]) => ({ file: `processes/${name}.bpmn`, bpmn }));
    const processes = [...own, ...(contents['processes'] as typeof own)];
    const build = await client.publishPackage({ ...contents, processes }, tools.url);
    const side = new PricedSide(service, client, build);
    // Definitions and connections are there before what is timed.
    await side.measure(CALLERS * 2, 'warm');
    side.rates = noFigures();
    side.waits = noFigures();
    return side;
  }

  /** Starts, half of them with an Idempotency-Key, then one UI action, one reading and one history of each. */
  async measure(count: number, round: string): Promise<void> {
    const places: Place[] = [];
    const keyOf = (index: number): string | undefined => (index % 2 === 0 ? undefined : `${round}-${index}`);
    await this.timed('starts', count, async (index) => {
      const reply = await this.client.start(this.build, 'approval', { index }, keyOf(index));
      places[index] = firstPlace(done(reply));
    });
    const place = (index: number): Place => places[index] ?? { process: '', token: '' };
    await this.timed('UI actions', count, async (index) => {
      done(await this.client.act(place(index), 'apply', { apply: 'yes' }, keyOf(index)));
    });
    await this.timed('readings', count, async (index) => {
      done(await this.client.read(place(index).process));
    });
    await this.timed('histories', count, async (index) => {
      done(await this.client.history(place(index).process));
    });
  }

  price(what: Priced): Price {
    return { perSecond: median(this.rates[what]), p50: median(this.waits[what]) };
  }

  /** Leads orders to their end: UI actions, a timer, a called process and its answer, all of them jobs. */
  async orders(count: number): Promise<void> {
    await doNumbered(count, CALLERS, async (index) => {
      const order = `order-${index}`;
      const started = await this.client.start(this.build, 'order', { order, ticks: 0, checks: 0 }, order);
      const { process, token } = firstPlace(done(started));
      done(await this.client.act({ process, token }, 'apply', { apply: order }));
      for (const task of ['left', 'sign'] as const) {
        const place = { process, token: await this.tokenAt(process, task) };
        done(await this.client.act(place, task, { [task]: order }, `${order}-${task}`));
      }
      await this.ended(process);
    });
  }

  /** Runs workflows whose agents ask the model and call its tools. */
  async agents(count: number): Promise<void> {
    await doNumbered(count, CALLERS, async (index) => {
      const order = `order-${index}`;
      const started = await this.client.start(this.build, 'orders', { order }, `agent-${order}`);
      await this.ended(firstPlace(done(started)).process);
    });
  }

  /** What has to look everywhere: a list, an instance that is not there, and the metrics. */
  async lookEverywhere(): Promise<void> {
    done(await this.client.list('approval'));
    const unknown = await this.client.read('01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20');
    prove(unknown.status === 404, `an unknown instance was answered ${unknown.status}`);
    const metrics = await (await fetch(`${this.service.url}/metrics`)).text();
    const failed = metrics.split('\n').filter((line) => /outcome="(failed|given_up)".* [1-9]/.test(line));
    prove(failed.length === 0, `jobs have failed:\n${failed.join('\n')}`);
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private async timed(what: Priced, count: number, work: (index: number) => Promise<void>): Promise<void> {
    const begun = performance.now();
    await doNumbered(count, CALLERS, async (index) => {
      const asked = performance.now();
      await work(index);
      this.waits[what].push(performance.now() - asked);
    });
    this.rates[what].push(count / ((performance.now() - begun) / 1_000));
  }

  private async tokenAt(process: string, task: UserTask): Promise<string> {
    const { uuid } = await this.wait(process, ({ body }) => {
      const tokens = body['tokens'] as { uuid: string; uiActions: { svcUuid: string }[] }[];
      return tokens.find(({ uiActions }) => uiActions.some(({ svcUuid }) => svcUuid === UI_ACTIONS[task]));
    });
    return uuid;
  }

  private async ended(process: string): Promise<void> {
    await this.wait(process, ({ body }) => (body['state'] === 'FINISHED' ? body : undefined));
  }

  private async wait<Found>(process: string, find: (reply: Reply) => Found | undefined): Promise<Found> {
    const deadline = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      const reply = done(await this.client.read(process));
      const found = find(reply);
      if (found !== undefined) {
        return found;
      }
      prove(performance.now() < deadline, `not there after ${LONGEST_WAIT_MS} ms: ${reply.text}`);
      await sleep(LOOK_MS);
    }
  }
}

function noFigures(): Record<Priced, number[]> {
  return { starts: [], 'UI actions': [], readings: [], histories: [] };
}

function done(reply: Reply): Reply {
  prove(reply.status === 200, `${reply.status} ${reply.text}`);
  return reply;
}

/** How often something was executed, and to how many shards that went in all. */
interface Count {
  executions: number;
  routes: number;
}

/** What was sent to vtgate in a time. */
export interface Sent {
  executions: number;
  /** Shards beyond one for each execution, whatever the statements were. */
  surplus: number;
  /** Statements that went to more than one shard. One that was sent less than three times may be missing: vtgate does not keep its plan. */
  scattered: (Count & { sql: string })[];
  /** Transactions that were committed in more than one shard. */
  crossing: number;
}

interface Counts {
  /** By kind of statement and plan. */
  kinds: Map<string, Count>;
  /** By statement. */
  statements: Map<string, Count>;
  crossing: number;
}

/** Transactions are begun and ended in shards where statements were. */
const OF_TRANSACTIONS = /^(BEGIN|COMMIT|ROLLBACK)\b/;
const NONE: Count = { executions: 0, routes: 0 };

/** Counts to how many shards statements go, by what vtgate tells. */
export class VitessCounts {
  private constructor(
    private readonly url: string,
    private before: Counts,
  ) {}

  /** Counts from now on. */
  static async of({ debugPort }: Vtcombo): Promise<VitessCounts> {
    const url = `http://127.0.0.1:${debugPort}/debug`;
    return new VitessCounts(url, await countsAt(url));
  }

  /** What was sent since the last time that somebody asked. */
  async sent(): Promise<Sent> {
    const after = await countsAt(this.url);
    const kinds = grown(this.before.kinds, after.kinds).filter(({ name }) => !OF_TRANSACTIONS.test(name));
    const crossing = after.crossing - this.before.crossing;
    const scattered = grown(this.before.statements, after.statements)
      .filter(({ executions, routes }) => routes > executions)
      .map(({ name, ...count }) => ({ sql: name, ...count }));
    this.before = after;
    return {
      executions: kinds.reduce((sum, { executions }) => sum + executions, 0),
      surplus: kinds.reduce((sum, { executions, routes }) => sum + Math.max(0, routes - executions), 0),
      scattered,
      crossing,
    };
  }
}

function grown(
  before: ReadonlyMap<string, Count>,
  after: ReadonlyMap<string, Count>,
): (Count & { name: string })[] {
  return [...after].map(([name, { executions, routes }]) => {
    const earlier = before.get(name) ?? NONE;
    return { name, executions: executions - earlier.executions, routes: routes - earlier.routes };
  });
}

async function countsAt(url: string): Promise<Counts> {
  const [plans, vars] = await Promise.all([
    fetched<Record<string, { ExecCount?: number; ShardQueries?: number }>>(`${url}/query_plans`),
    fetched<Record<string, Record<string, number> | undefined>>(`${url}/vars`),
  ]);
  const { QueryExecutions: executions = {}, QueryRoutes: routes = {}, TransactionsProcessed = {} } = vars;
  const crossing = Object.entries(TransactionsProcessed).filter(([name]) => name.startsWith('Cross'));
  return {
    kinds: new Map(
      Object.entries(executions).map(([name, count]) => [
        name,
        { executions: count, routes: routes[name] ?? 0 },
      ]),
    ),
    statements: new Map(
      Object.entries(plans).map(([sql, { ExecCount = 0, ShardQueries = 0 }]) => [
        sql,
        { executions: ExecCount, routes: ShardQueries },
      ]),
    ),
    crossing: crossing.reduce((sum, [, count]) => sum + count, 0),
  };
}

async function fetched<Body>(url: string): Promise<Body> {
  const { body } = await request(url);
  return (await body.json()) as Body;
}
