import { setTimeout as sleep } from 'node:timers/promises';

import type { OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import { ConnectionError, type LimitCause } from './connection.error.js';

/** A pause that a server or a token endpoint asks for (HTTP 429). */
interface Pause {
  cause: LimitCause;
  ms: number;
}

interface Waiter {
  readonly operation: OutboundOperation;
  readonly refuse: (error: ConnectionError) => void;
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
    let waiter: Waiter | undefined;
    const refused = new Promise<never>((_resolve, refuse) => {
      waiter = this.enter({ operation, refuse });
    });
    try {
      return await operation.race(Promise.race([this.work, refused]));
    } finally {
      await this.leave(waiter);
    }
  }

  /** Refuses the waiters that have no time for a pause. Returns whether others are left. */
  hasTimeFor(pause: Pause): boolean {
    this.pause = { ...pause, until: performance.now() + pause.ms };
    return [...this.waiters].filter((waiter) => !refusedFor(waiter, pause)).length > 0;
  }

  private enter(waiter: Waiter): Waiter {
    this.waiters.add(waiter);
    const ms = Math.ceil((this.pause?.until ?? 0) - performance.now());
    if (this.pause !== undefined && ms > 0) {
      refusedFor(waiter, { ...this.pause, ms });
    }
    return waiter;
  }

  private async leave(waiter: Waiter | undefined): Promise<void> {
    if (waiter !== undefined) {
      this.waiters.delete(waiter);
    }
    if (this.waiters.size === 0) {
      await this.operation.close();
    }
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
