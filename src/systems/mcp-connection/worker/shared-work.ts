import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboundOperation } from '../../../platform/outbound/outbound.operation.js';
import { ConnectionError, type LimitCause } from './connection.error.js';
import { retryAfterOf } from '../../../platform/outbound/retry-after.js';

/** A wait requested by a server or token endpoint (HTTP 429). */
interface Pause {
  cause: LimitCause;
  ms: number;
}

interface Waiter {
  readonly operation: OutboundOperation;
  refuse: (error: ConnectionError) => void;
}

const worksByOperation = new WeakMap<OutboundOperation, SharedWork<unknown>>();

/** Work in its own operation that several operations wait for. Aborted when none waits any more. */
export class SharedWork<T> {
  private readonly waiters = new Set<Waiter>();
  private pause: (Pause & { until: number }) | undefined;

  /** @param operation operation that does `work` */
  constructor(
    private readonly operation: OutboundOperation,
    private readonly work: Promise<T>,
  ) {
    work.catch(() => undefined);
    worksByOperation.set(operation, this);
  }

  /**
   * Waits until the work is done or the waiting operation ends.
   * @throws ConnectionError when a pause of the work exceeds the remaining time of the waiting operation; errors of the work
   */
  async wait(operation: OutboundOperation): Promise<T> {
    const waiter: Waiter = { operation, refuse: () => undefined };
    this.waiters.add(waiter);
    const refused = new Promise<never>((_resolve, refuse) => {
      waiter.refuse = refuse;
      const ms = Math.ceil((this.pause?.until ?? 0) - performance.now());
      if (this.pause !== undefined && ms > 0) {
        refusedFor(waiter, { ...this.pause, ms });
      }
    });
    try {
      return await operation.race(Promise.race([this.work, refused]));
    } finally {
      this.waiters.delete(waiter);
      if (this.waiters.size === 0) {
        await this.operation.close();
      }
    }
  }

  /** Rejects the waiters that have no time for a pause. @returns whether others are left */
  hasTimeFor(pause: Pause): boolean {
    this.pause = { ...pause, until: performance.now() + pause.ms };
    return [...this.waiters].filter((waiter) => !refusedFor(waiter, pause)).length > 0;
  }
}

/**
 * Waits as long as another party requests.
 * @returns false immediately if the operation, or all that wait for it, have less time
 * @throws the reason of a signal
 */
export async function pauseFor(
  pause: Pause,
  operation: OutboundOperation,
  signal?: AbortSignal | null,
): Promise<boolean> {
  if (!hasTimeFor(operation, pause)) {
    return false;
  }
  const ends = signal ? AbortSignal.any([operation.signal, signal]) : operation.signal;
  await sleep(pause.ms, undefined, { signal: ends }).catch(() => ends.throwIfAborted());
  return true;
}

function hasTimeFor(operation: OutboundOperation, pause: Pause): boolean {
  return pause.ms < operation.remainingMs && (worksByOperation.get(operation)?.hasTimeFor(pause) ?? true);
}

function refusedFor({ operation, refuse }: Waiter, pause: Pause): boolean {
  const isRefused = !hasTimeFor(operation, pause);
  if (isRefused) {
    refuse(new ConnectionError(pause.cause, pause.ms));
  }
  return isRefused;
}

const TOO_MANY_REQUESTS = 429;
/** Minimum pause before the second try; doubles with each further try. */
const MIN_PAUSE_MS = 250;

/** Rate limiting by a server. */
export interface RateLimit {
  /** Requested wait in milliseconds, if the server rejected the latest message with 429. */
  retryAfterMs?: number | undefined;
  /** Whether the service waited for it. */
  waited?: boolean;
}

/**
 * Sends a message, and repeats it after each wait that the server requests while there is time.
 * @throws errors of `sent`, or the reason of a signal
 */
export async function sentInTime(
  sent: () => Promise<Response>,
  limit: RateLimit,
  operation: OutboundOperation,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const response = noteRefusal(await sent(), limit, tries);
    if (!(await paused(limit, operation, signal))) {
      return response;
    }
    await response.body?.cancel();
  }
}

/** Records the wait that a response requests. */
export function noteRefusal(response: Response, limit: RateLimit, tries: number): Response {
  const requested = response.status === TOO_MANY_REQUESTS ? retryAfterOf(response.headers) : null;
  limit.retryAfterMs = requested === null ? undefined : Math.max(requested, MIN_PAUSE_MS * 2 ** tries);
  return response;
}

/**
 * Waits as long as the server requests. Returns false immediately if it requests no wait, or more time than is left.
 * @throws the reason of a signal
 */
export async function paused(
  limit: RateLimit,
  operation: OutboundOperation,
  signal?: AbortSignal | null,
): Promise<boolean> {
  const { retryAfterMs } = limit;
  const pause = { cause: 'rate_limited' as const, ms: retryAfterMs ?? 0 };
  const waited = retryAfterMs !== undefined && (await pauseFor(pause, operation, signal));
  limit.waited ||= waited;
  return waited;
}
