import { setTimeout as sleep } from 'node:timers/promises';
import { brokeOff, firstPlace, ProcessClient, type Reply } from './process-client.js';
import type { ProofEnvironment } from './proof-environment.js';
import { prove } from './proof.js';
import type { ServiceProcess } from './service-process.js';
import { count, entries, ProcessRows, type StoredInstance } from './process-rows.js';

const CALLERS = 8;
const PAUSE_MS = 60;
const LIGHT_PAUSE_MS = 600;
const AGAIN_MS = 20;
const LOOK_MS = 100;
/** Of the answer to a commit without one. */
const UNKNOWN_OUTCOME = 'may have been stored';

/** A replica of the service, as callers and a balancer see it. */
export interface Replica {
  client: ProcessClient;
  isReady: () => Promise<boolean>;
  /** Whether it is meant to serve now. */
  isUp: boolean;
}

/** A replica in a process of its own. */
export interface RunningReplica extends Replica {
  service: ServiceProcess;
}

export async function launchReplica(
  environment: ProofEnvironment,
  databaseUrl: string,
  settings: Record<string, string>,
): Promise<RunningReplica> {
  const service = await environment.startService(databaseUrl, settings);
  const client = new ProcessClient(service.url, await environment.token());
  return { client, service, isUp: true, isReady: () => service.isReady() };
}

/** What callers do. */
export interface CallPlan {
  /** Where others work on the same cores, as in a short round. */
  isLight: boolean;
  /** What an order begins with, beside its name and its counts. */
  data?: () => Record<string, unknown>;
}

/**
 * Callers who start orders and take a first step in each, which leaves a timer and a called process to the background. They ask the
 * replicas in turn, and repeat each call with its Idempotency-Key until it is acknowledged. A balancer asks all replicas whether they are
 * ready.
 */
export class FailoverLoad {
  /** UUIDs of instances whose start and first step were acknowledged. */
  readonly finished = new Set<string>();
  /** How often each status was answered; 0 where the connection broke. */
  readonly statuses = new Map<number, number>();
  readonly looks = { all: 0, notReady: 0 };
  /** The longest that a caller waited for an answer, milliseconds. */
  slowestMs = 0;
  private readonly successes: number[] = [];
  private running = true;
  private turn = 0;
  private work: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly replicas: readonly Replica[],
    private readonly build: string,
    private readonly plan: CallPlan,
  ) {}

  begin(): void {
    const callers = Array.from({ length: CALLERS }, (_, caller) => this.call(caller));
    this.work = Promise.all([...callers, ...this.replicas.map((replica) => this.look(replica))]);
    this.work.catch(() => {
      this.running = false;
    });
  }

  /** Lets every order come to its end, and begins none. Rejects when an answer was a fault. */
  async end(): Promise<void> {
    this.running = false;
    await this.work;
  }

  /** @returns milliseconds from `since`, on the clock of `performance.now()`, to the first write acknowledged after it */
  async backAfter(since: number, limitMs: number): Promise<number> {
    for (;;) {
      const first = this.successes.find((at) => at > since);
      if (first !== undefined) {
        return first - since;
      }
      if (!this.running) {
        // Rejects with the answer that was a fault.
        await this.work;
      }
      prove(this.running, 'the load has ended');
      prove(performance.now() - since < limitMs, `no write within ${limitMs} ms`);
      await sleep(5);
    }
  }

  private async look(replica: Replica): Promise<void> {
    while (this.running) {
      const { isUp } = replica;
      const isReady = await replica.isReady();
      if (isUp && replica.isUp && this.running) {
        this.looks.all += 1;
        this.looks.notReady += isReady ? 0 : 1;
      }
      await sleep(LOOK_MS);
    }
  }

  private async call(caller: number): Promise<void> {
    for (let number = 0; this.running; number += 1) {
      const key = `failover-${caller}-${number}`;
      const data = { order: key, ticks: 0, checks: 0, ...this.plan.data?.() };
      const started = await this.insist((client) => client.start(this.build, 'order', data, key));
      const place = firstPlace(started);
      await this.insist((client) => client.act(place, 'apply', { apply: key }, `${key}-apply`));
      this.finished.add(place.process);
      await sleep(this.plan.isLight ? LIGHT_PAUSE_MS : PAUSE_MS);
    }
  }

  private async insist(send: (client: ProcessClient) => Promise<Reply>): Promise<Reply> {
    for (;;) {
      const { client } = this.next();
      const asked = performance.now();
      const reply = await send(client).catch((error: unknown) => {
        if (!brokeOff(error)) {
          throw error;
        }
        return undefined;
      });
      const status = reply?.status ?? 0;
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      if (reply?.status === 200) {
        const answered = performance.now();
        this.successes.push(answered);
        this.slowestMs = Math.max(this.slowestMs, answered - asked);
        return reply;
      }
      prove(reply === undefined || isExpected(reply), `answered ${status}: ${reply?.text}`);
      await sleep(AGAIN_MS);
    }
  }

  private next(): Replica {
    this.turn += 1;
    const up = this.replicas.filter(({ isUp }) => isUp);
    const replica = up[this.turn % up.length];
    if (replica === undefined) {
      throw new Error('no replica is up');
    }
    return replica;
  }
}

/** A failure of the database is told as one, or that nobody knows whether a commit was stored. */
function isExpected({ status, text }: Reply): boolean {
  return status === 503 || (status === 500 && text.includes(UNKNOWN_OUTCOME));
}

const LONGEST_DRAIN_MS = 180_000;

/**
 * Waits until the background has done the work of all orders, and checks that none is lost, none is there twice, and each step and job
 * was done once.
 * @param acknowledged UUIDs of orders whose start and first step were acknowledged, all there were
 */
export async function checkOrders(databaseUrl: string, acknowledged: ReadonlySet<string>): Promise<void> {
  const reader = await ProcessRows.open(databaseUrl);
  const deadline = performance.now() + LONGEST_DRAIN_MS;
  let orders = await ordersOf(reader);
  while (orders.some((order) => !isAtRest(order)) && performance.now() < deadline) {
    await sleep(250);
    orders = await ordersOf(reader);
  }
  await reader.close();
  const stored = new Set(orders.map(({ row }) => row.uuid));
  const lost = [...acknowledged].filter((uuid) => !stored.has(uuid));
  prove(lost.length === 0, `${lost.length} acknowledged orders are lost`);
  prove(orders.length === acknowledged.size, `${orders.length} orders for ${acknowledged.size} keys`);
  const undone = orders.filter((order) => !isAtRest(order));
  prove(
    undone.length === 0,
    `${undone.length} orders made a step or a job not once: ${undone.map(told).join(', ')}`,
  );
}

async function ordersOf(reader: ProcessRows): Promise<StoredInstance[]> {
  return (await reader.instances()).filter(({ row }) => row.processName === 'order');
}

/** Where the work of the background is done: what it left, once each. */
function isAtRest(order: StoredInstance): boolean {
  return order.jobs.length === 0 && Object.values(effects(order)).every((times) => times === 1);
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
  return JSON.stringify({ ...effects(order), jobs: order.jobs.length });
}
