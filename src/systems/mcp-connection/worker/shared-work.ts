import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboundOperation } from '../../../platform/outbound/outbound.operation.js';
import { ConnectionError, type LimitCause } from './connection.error.js';
import { retryAfterOf } from '../../../platform/outbound/retry-after.js';

/** A pause that a server or a token endpoint asks for (HTTP 429). */
interface Pause {
  cause: LimitCause;
  ms: number;
}

interface Waiter {
  readonly operation: OutboundOperation;
  refuse: (error: ConnectionError) => void;
}

const worksByOperation = new WeakMap<OutboundOperation, SharedWork<unknown>>();

/** Work in an operation of its own that several operations wait for. It is cut off when none waits any more. */
export class SharedWork<T> {
  private readonly waiters = new Set<Waiter>();
  private pause: (Pause & { until: number }) | undefined;

  /** @param operation the operation in which `work` is done */
  constructor(
    private readonly operation: OutboundOperation,
    private readonly work: Promise<T>,
  ) {
    work.catch(() => undefined);
    worksByOperation.set(operation, this);
  }

  /**
   * Waits until the work is done, or the operation that needs it ends.
   * @throws ConnectionError when the work pauses for longer than that operation has time; whatever the work throws
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

  /** Refuses the waiters that have no time for a pause. Returns whether others are left. */
  hasTimeFor(pause: Pause): boolean {
    this.pause = { ...pause, until: performance.now() + pause.ms };
    return [...this.waiters].filter((waiter) => !refusedFor(waiter, pause)).length > 0;
  }
}

/**
 * Waits as long as another party asks.
 * @returns false at once where the operation, or everybody who waits for it, has less time
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
/** Before the second try; doubles with each. */
const MIN_PAUSE_MS = 250;

/** What is known of the limit of a server on how often it is called. */
export interface RateLimit {
  /** Milliseconds that the server asks to wait, where it has refused the latest message with 429. */
  retryAfterMs?: number | undefined;
  /** Whether it was waited for. */
  waited?: boolean;
}

/**
 * Sends a message, and again after the time that the server asks for, as long as that is in time.
 * @throws what `sent` throws, or the reason of a signal
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

/** Reads from an answer how long to wait. */
export function noteRefusal(response: Response, limit: RateLimit, tries: number): Response {
  const asked = response.status === TOO_MANY_REQUESTS ? retryAfterOf(response.headers) : null;
  limit.retryAfterMs = asked === null ? undefined : Math.max(asked, MIN_PAUSE_MS * 2 ** tries);
  return response;
}

/**
 * Waits as long as the server asks; false at once where it asks for nothing, or for more time than is left.
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
