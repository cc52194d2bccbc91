import { setTimeout as sleep } from 'node:timers/promises';
import { isConnectionLost, firstPlace, ProcessClient, type Reply } from './process-client.js';
import type { ProofEnvironment } from './proof-environment.js';
import { prove } from './proof.js';
import type { ServiceProcess } from './service-process.js';
import { count, entries, ProcessRows, type StoredInstance } from './process-rows.js';

const CALLERS = 8;
const PAUSE_MS = 60;
const LIGHT_PAUSE_MS = 600;
const RETRY_MS = 20;
const POLL_MS = 100;
/** Part of the message when the outcome of a commit is unknown. */
const UNKNOWN_OUTCOME = 'may have been stored';

/** A replica of the service, as seen by callers and a load balancer. */
export interface Replica {
  client: ProcessClient;
  isReady: () => Promise<boolean>;
  /** Whether the replica is expected to serve requests now. */
  isUp: boolean;
}

/** A replica that runs as a separate process. */
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

/** Behavior of the callers. */
export interface CallPlan {
  /** Whether to reduce the load in short runs, which share the processors. */
  isLight: boolean;
  /** Returns additional start data of an order. */
  data?: () => Record<string, unknown>;
}

/**
 * Callers that start orders and execute a first step in each, which leaves a timer and a called process to background jobs.
 * They use the replicas in turn, and retry each call with its Idempotency-Key until it is acknowledged. A load balancer
 * polls the readiness of all replicas.
 */
export class FailoverLoad {
  /** UUIDs of instances whose start and first step were acknowledged. */
  readonly finished = new Set<string>();
  /** Number of responses by status; 0 for broken connections. */
  readonly statuses = new Map<number, number>();
  readonly readinessChecks = { all: 0, notReady: 0 };
  /** Maximum response time in milliseconds. */
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
    this.work = Promise.all([...callers, ...this.replicas.map((replica) => this.pollReadiness(replica))]);
    this.work.catch(() => {
      this.running = false;
    });
  }

  /** Completes the pending calls and starts no further orders. Rejects when a response was unexpected. */
  async end(): Promise<void> {
    this.running = false;
    await this.work;
  }

  /**
   * Waits for the first acknowledged write after `since` (by `performance.now()`).
   * @returns milliseconds from `since` to that write
   */
  async untilNextWrite(since: number, limitMs: number): Promise<number> {
    for (;;) {
      const first = this.successes.find((at) => at > since);
      if (first !== undefined) {
        return first - since;
      }
      if (!this.running) {
        // Rejects with the unexpected response.
        await this.work;
      }
      prove(this.running, 'the load ended');
      prove(performance.now() - since < limitMs, `no write within ${limitMs} ms`);
      await sleep(5);
    }
  }

  private async pollReadiness(replica: Replica): Promise<void> {
    while (this.running) {
      const { isUp } = replica;
      const isReady = await replica.isReady();
      if (isUp && replica.isUp && this.running) {
        this.readinessChecks.all += 1;
        this.readinessChecks.notReady += isReady ? 0 : 1;
      }
      await sleep(POLL_MS);
    }
  }

  private async call(caller: number): Promise<void> {
    for (let number = 0; this.running; number += 1) {
      const key = `failover-${caller}-${number}`;
      const data = { order: key, ticks: 0, checks: 0, ...this.plan.data?.() };
      const started = await this.retryUntilAcknowledged((client) =>
        client.start(this.build, 'order', data, key),
      );
      const place = firstPlace(started);
      await this.retryUntilAcknowledged((client) =>
        client.act(place, 'apply', { apply: key }, `${key}-apply`),
      );
      this.finished.add(place.process);
      await sleep(this.plan.isLight ? LIGHT_PAUSE_MS : PAUSE_MS);
    }
  }

  private async retryUntilAcknowledged(send: (client: ProcessClient) => Promise<Reply>): Promise<Reply> {
    for (;;) {
      const { client } = this.next();
      const asked = performance.now();
      const reply = await send(client).catch((error: unknown) => {
        if (!isConnectionLost(error)) {
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
      await sleep(RETRY_MS);
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

/** Returns whether a response correctly reports a database failure, or a commit of unknown outcome. */
function isExpected({ status, text }: Reply): boolean {
  return status === 503 || (status === 500 && text.includes(UNKNOWN_OUTCOME));
}

const DRAIN_TIMEOUT_MS = 180_000;

/**
 * Waits until all background work of the orders is done, and checks that no order is lost or duplicated and that each step
 * and job was executed once.
 * @param acknowledged UUIDs of all orders whose start and first step were acknowledged
 */
export async function checkOrders(databaseUrl: string, acknowledged: ReadonlySet<string>): Promise<void> {
  const reader = await ProcessRows.open(databaseUrl);
  const deadline = performance.now() + DRAIN_TIMEOUT_MS;
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
    `${undone.length} orders did not execute each step and job once: ${undone.map(formatEffects).join(', ')}`,
  );
}

async function ordersOf(reader: ProcessRows): Promise<StoredInstance[]> {
  return (await reader.instances()).filter(({ row }) => row.processName === 'order');
}

/** Returns whether all background work of an order is done, once each. */
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

function formatEffects(order: StoredInstance): string {
  return JSON.stringify({ ...effects(order), jobs: order.jobs.length });
}
