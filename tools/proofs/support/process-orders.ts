import { setTimeout as sleep } from 'node:timers/promises';
import {
  isConnectionLost,
  firstPlace,
  type Place,
  type ProcessClient,
  type Reply,
} from './process-client.js';
import type { UserTask } from './process-models.js';
import { activeTokens, type ProcessRows } from './process-rows.js';
import type { Load } from './process-site.js';
import { prove } from './proof.js';

/** Steps of an order that callers execute, in order. */
const TASKS = ['apply', 'left', 'sign'] as const;
const NOT_YET_MS = 20;
const UNREACHABLE_MS = 50;
/** Number of open orders above which callers continue open orders instead of starting new ones. */
const OPEN_ORDERS = 40;

/** A caller's knowledge of an instance of `ORDER`. */
export interface Order {
  /** Unique name, which is part of its Idempotency-Keys. */
  name: string;
  /** First token; undefined until the start was acknowledged. */
  place: Place | undefined;
  /** User tasks whose UI action was acknowledged. */
  done: Set<UserTask>;
}

/** Targets of calls, replaced when the service restarts. */
export interface Target {
  client: ProcessClient;
  rows: ProcessRows;
}

/**
 * Callers that start and complete orders. Each call has an Idempotency-Key and is retried with it until it is acknowledged.
 */
export class Orders implements Load {
  readonly all: Order[] = [];
  /** Number of calls without a response, because the connection broke or the database was unavailable. */
  interrupted = 0;
  acknowledged = 0;
  /** Whether the database may be unavailable, so that 5xx responses are permitted. */
  databaseMayFail = false;
  private readonly free: Order[] = [];
  private open = 0;
  private running = false;
  private accepting = true;

  constructor(
    private readonly build: string,
    private readonly target: () => Target,
  ) {}

  /** Runs callers until `pause` is called. Rejects on an unexpected response. */
  async run(callers: number): Promise<void> {
    this.running = true;
    try {
      await Promise.all(Array.from({ length: callers }, () => this.work()));
    } finally {
      this.running = false;
    }
  }

  pause(): void {
    this.running = false;
  }

  /** Completes all started orders and starts none. */
  async finish(callers: number, deadlineMs: number): Promise<void> {
    this.accepting = false;
    const deadline = setTimeout(() => this.pause(), deadlineMs);
    await this.run(callers).finally(() => clearTimeout(deadline));
    prove(this.open === 0, `${this.open} orders did not end within ${deadlineMs} ms`);
  }

  private async work(): Promise<void> {
    while (this.running) {
      const order = this.next();
      if (order === undefined) {
        if (!this.accepting && this.open === 0) {
          return;
        }
        await sleep(NOT_YET_MS);
        continue;
      }
      await this.advance(order).catch((error: unknown) => {
        this.pause();
        throw error;
      });
    }
  }

  private next(): Order | undefined {
    if (this.accepting && this.open < OPEN_ORDERS && (this.free.length === 0 || Math.random() < 0.5)) {
      const order: Order = { name: `order-${this.all.length}`, place: undefined, done: new Set() };
      this.all.push(order);
      this.open += 1;
      return order;
    }
    return this.free.shift();
  }

  private async advance(order: Order): Promise<void> {
    const task = TASKS.find((each) => !order.done.has(each)) ?? 'sign';
    try {
      await (order.place === undefined ? this.start(order) : this.act(order, order.place, task));
    } catch (error) {
      if (!this.isInterrupted(error)) {
        throw error;
      }
      this.interrupted += 1;
      await sleep(UNREACHABLE_MS);
    }
    if (order.done.has('sign')) {
      this.open -= 1;
    } else {
      this.free.push(order);
    }
  }

  private async start(order: Order): Promise<void> {
    const data = { order: order.name, ticks: 0, checks: 0 };
    const reply = await this.target().client.start(this.build, 'order', data, order.name);
    this.expectOk(reply, `start of ${order.name}`);
    order.place = firstPlace(reply);
  }

  private async act(order: Order, place: Place, task: UserTask): Promise<void> {
    const token = task === 'left' ? await this.branchToken(place) : place.token;
    const key = `${order.name}-${task}`;
    const reply = await this.target().client.act({ ...place, token }, task, { [task]: key }, key);
    if (task === 'sign' && reply.status === 409) {
      // The other branches have not reached the join yet.
      await sleep(NOT_YET_MS);
      return;
    }
    this.expectOk(reply, `${task} of ${order.name}`);
    order.done.add(task);
  }

  /** Returns the token of the branch, or its former token for a repeated call. */
  private async branchToken({ process }: Place): Promise<string> {
    const [stored] = await this.target().rows.instances(process);
    prove(stored !== undefined, `instance ${process} was acknowledged but is lost`);
    const active = activeTokens(stored).get('left');
    const entered = stored.events.find(
      ({ kind, node }) => kind === 'NODE_ENTERED' && stored.definition.node(node ?? -1).key === 'left',
    );
    return active ?? stored.tokens.get(entered?.tokenId ?? -1)?.uuid ?? '';
  }

  private expectOk({ status, text }: Reply, what: string): void {
    if (status >= 500 && this.databaseMayFail) {
      throw new InterruptedError();
    }
    prove(status === 200, `${what} was answered ${status}: ${text}`);
    this.acknowledged += 1;
  }

  private isInterrupted(error: unknown): boolean {
    const code = String((error as { code?: unknown }).code);
    return (
      error instanceof InterruptedError ||
      isConnectionLost(error) ||
      (this.databaseMayFail && /^(PROTOCOL_CONNECTION_LOST|ER_SERVER_SHUTDOWN)$/.test(code)) ||
      /closed state/.test(String(error))
    );
  }
}

class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}
