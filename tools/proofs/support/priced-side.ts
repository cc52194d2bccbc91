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
const POLL_MS = 50;
const WAIT_TIMEOUT_MS = 120_000;
/** Short intervals, so that timers and workflows run soon. */
const SETTINGS = { 'jobLimits.pollMs': '50', EGRESS_ALLOW: '127.0.0.1', 'mcpLimits.testTimeoutMs': '60000' };
const MODELS = { approval: APPROVAL, order: ORDER, check: CHECK };

/** Operations that callers perform and whose time is measured. */
export const PRICED = ['starts', 'UI actions', 'readings', 'histories'] as const;
type Priced = (typeof PRICED)[number];

/** Database and settings of a service. */
export interface SideAddress {
  databaseUrl: string;
  settings: Record<string, string>;
}

/** Peers of agents. */
export interface AgentPeers {
  model: CountingPeer;
  tools: CountingPeer;
}

/** Measurements of one kind of call. */
export interface Price {
  perSecond: number;
  p50: number;
}

/** One service on one database, with callers that perform the same operations on every side. */
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
    // Warm up, so that definitions and connections exist before the measurement.
    await side.measure(CALLERS * 2, 'warm');
    side.rates = noFigures();
    side.waits = noFigures();
    return side;
  }

  /**
   * Measures starts, half of them with an Idempotency-Key, then one UI action, one read and one history of each instance.
   */
  async measure(count: number, round: string): Promise<void> {
    const places: Place[] = [];
    const keyOf = (index: number): string | undefined => (index % 2 === 0 ? undefined : `${round}-${index}`);
    await this.measureCalls('starts', count, async (index) => {
      const reply = await this.client.start(this.build, 'approval', { index }, keyOf(index));
      places[index] = firstPlace(expectOk(reply));
    });
    const place = (index: number): Place => places[index] ?? { process: '', token: '' };
    await this.measureCalls('UI actions', count, async (index) => {
      expectOk(await this.client.act(place(index), 'apply', { apply: 'yes' }, keyOf(index)));
    });
    await this.measureCalls('readings', count, async (index) => {
      expectOk(await this.client.read(place(index).process));
    });
    await this.measureCalls('histories', count, async (index) => {
      expectOk(await this.client.history(place(index).process));
    });
  }

  price(what: Priced): Price {
    return { perSecond: median(this.rates[what]), p50: median(this.waits[what]) };
  }

  /** Completes orders: UI actions, a timer, a called process and its answer, all of them jobs. */
  async orders(count: number): Promise<void> {
    await doNumbered(count, CALLERS, async (index) => {
      const order = `order-${index}`;
      const started = await this.client.start(this.build, 'order', { order, ticks: 0, checks: 0 }, order);
      const { process, token } = firstPlace(expectOk(started));
      expectOk(await this.client.act({ process, token }, 'apply', { apply: order }));
      for (const task of ['left', 'sign'] as const) {
        const place = { process, token: await this.tokenAt(process, task) };
        expectOk(await this.client.act(place, task, { [task]: order }, `${order}-${task}`));
      }
      await this.waitForEnd(process);
    });
  }

  /** Runs workflows whose agents call the model and its tools. */
  async agents(count: number): Promise<void> {
    await doNumbered(count, CALLERS, async (index) => {
      const order = `order-${index}`;
      const started = await this.client.start(this.build, 'orders', { order }, `agent-${order}`);
      await this.waitForEnd(firstPlace(expectOk(started)).process);
    });
  }

  /** Performs operations that must query all shards: a list, an unknown instance, and the metrics. */
  async queryAllShards(): Promise<void> {
    expectOk(await this.client.list('approval'));
    const unknown = await this.client.read('01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20');
    prove(unknown.status === 404, `an unknown instance was answered ${unknown.status}`);
    const metrics = await (await fetch(`${this.service.url}/metrics`)).text();
    const failed = metrics.split('\n').filter((line) => /outcome="(failed|given_up)".* [1-9]/.test(line));
    prove(failed.length === 0, `jobs failed:\n${failed.join('\n')}`);
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private async measureCalls(
    what: Priced,
    count: number,
    work: (index: number) => Promise<void>,
  ): Promise<void> {
    const start = performance.now();
    await doNumbered(count, CALLERS, async (index) => {
      const asked = performance.now();
      await work(index);
      this.waits[what].push(performance.now() - asked);
    });
    this.rates[what].push(count / ((performance.now() - start) / 1_000));
  }

  private async tokenAt(process: string, task: UserTask): Promise<string> {
    const { uuid } = await this.wait(process, ({ body }) => {
      const tokens = body['tokens'] as { uuid: string; uiActions: { svcUuid: string }[] }[];
      return tokens.find(({ uiActions }) => uiActions.some(({ svcUuid }) => svcUuid === UI_ACTIONS[task]));
    });
    return uuid;
  }

  private async waitForEnd(process: string): Promise<void> {
    await this.wait(process, ({ body }) => (body['state'] === 'FINISHED' ? body : undefined));
  }

  private async wait<Found>(process: string, find: (reply: Reply) => Found | undefined): Promise<Found> {
    const deadline = performance.now() + WAIT_TIMEOUT_MS;
    for (;;) {
      const reply = expectOk(await this.client.read(process));
      const found = find(reply);
      if (found !== undefined) {
        return found;
      }
      prove(performance.now() < deadline, `not reached after ${WAIT_TIMEOUT_MS} ms: ${reply.text}`);
      await sleep(POLL_MS);
    }
  }
}

function noFigures(): Record<Priced, number[]> {
  return { starts: [], 'UI actions': [], readings: [], histories: [] };
}

function expectOk(reply: Reply): Reply {
  prove(reply.status === 200, `${reply.status} ${reply.text}`);
  return reply;
}

/** Number of executions and of shards they used in total. */
interface Count {
  executions: number;
  routes: number;
}

/** Statements sent to vtgate within a period. */
export interface Sent {
  executions: number;
  /** Number of shards used beyond one per execution. */
  surplus: number;
  /**
   * Statements that used more than one shard. One sent fewer than three times may be missing, since vtgate does not keep
   * its plan.
   */
  scattered: (Count & { sql: string })[];
  /** Number of transactions committed in more than one shard. */
  crossing: number;
}

interface Counts {
  /** Counts by kind of statement and plan. */
  kinds: Map<string, Count>;
  /** Counts by statement. */
  statements: Map<string, Count>;
  crossing: number;
}

/** Matches transaction statements, which use the shards of their other statements. */
const TRANSACTION_STATEMENT = /^(BEGIN|COMMIT|ROLLBACK)\b/;
const ZERO: Count = { executions: 0, routes: 0 };

/** Counts the shards used by statements, as reported by vtgate. */
export class VitessCounts {
  private constructor(
    private readonly url: string,
    private before: Counts,
  ) {}

  /** Starts counting. */
  static async of({ debugPort }: Vtcombo): Promise<VitessCounts> {
    const url = `http://127.0.0.1:${debugPort}/debug`;
    return new VitessCounts(url, await countsAt(url));
  }

  /** Returns the statements sent since the last call. */
  async sent(): Promise<Sent> {
    const after = await countsAt(this.url);
    const kinds = difference(this.before.kinds, after.kinds).filter(
      ({ name }) => !TRANSACTION_STATEMENT.test(name),
    );
    const crossing = after.crossing - this.before.crossing;
    const scattered = difference(this.before.statements, after.statements)
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

function difference(
  before: ReadonlyMap<string, Count>,
  after: ReadonlyMap<string, Count>,
): (Count & { name: string })[] {
  return [...after].map(([name, { executions, routes }]) => {
    const earlier = before.get(name) ?? ZERO;
    return { name, executions: executions - earlier.executions, routes: routes - earlier.routes };
  });
}

async function countsAt(url: string): Promise<Counts> {
  const [plans, vars] = await Promise.all([
    fetchJson<Record<string, { ExecCount?: number; ShardQueries?: number }>>(`${url}/query_plans`),
    fetchJson<Record<string, Record<string, number> | undefined>>(`${url}/vars`),
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

async function fetchJson<Body>(url: string): Promise<Body> {
  const { body } = await request(url);
  return (await body.json()) as Body;
}
