import type { Limit } from '../config/env.js';
import { UnreadableBodyError } from '../errors/request.errors.js';
import { useOf, type LimitUse } from '../observability/metrics/metrics.js';
import { RateLimitExceededError } from '../rate-limit/rate-limit.errors.js';
import { WaitingLine } from '../concurrency/waiting-line.js';

interface Bodies {
  amount: number;
  readonly line: WaitingLine<number>;
}

/** What of the bodies of one caller has its turn at the same time. */
export interface BodyRules {
  /** A larger body has its turn alone; 0 is no limit. */
  readonly limit: Limit;
  /** A body up to this is cheap, and needs no turn: its request may take long for reasons of its own. */
  readonly small: number;
  readonly waitMs: number;
}

const RETRY_AFTER_SECONDS = 1;
const GONE = 'Request body could not be read.';

/**
 * Lets the request bodies of one caller be worked on a few at a time, in the order in which they came, by their bytes or by their
 * values. To work on a large body takes the event loop for a moment. Between the bodies of one caller the requests of others have
 * theirs.
 */
export class BodyTurns {
  private readonly callers = new Map<string, Bodies>();

  constructor(private readonly rules: BodyRules) {}

  get use(): LimitUse {
    return useOf([...this.callers.values()].map(({ amount }) => amount));
  }

  isSmall(amount: number): boolean {
    return amount <= this.rules.small;
  }

  /**
   * Waits for the turn of a request.
   * @param amount bytes or values of its body at the most
   * @param over ends the turn at the latest: the answer is sent, or the connection is gone
   * @returns ends the turn before, when nothing large is left to do; to call it again does no harm
   * @throws RateLimitExceededError when the caller keeps it waiting for too long
   * @throws UnreadableBodyError when the connection is gone
   */
  async take(caller: string, amount: number, over: AbortSignal): Promise<() => void> {
    const { limit, waitMs } = this.rules;
    if (limit.most === 0) {
      return () => undefined;
    }
    const bodies = this.callers.get(caller) ?? { amount: 0, line: new WaitingLine<number>() };
    this.callers.set(caller, bodies);
    if (bodies.line.length === 0 && this.fits(bodies, amount)) {
      bodies.amount += amount;
    } else if (!(await bodies.line.wait(amount, waitMs, over))) {
      throw over.aborted
        ? new UnreadableBodyError(GONE)
        : new RateLimitExceededError(limit, RETRY_AFTER_SECONDS);
    }
    let hasEnded = false;
    const end = (): void => {
      over.removeEventListener('abort', end);
      if (!hasEnded) {
        hasEnded = true;
        this.end(caller, bodies, amount);
      }
    };
    over.addEventListener('abort', end);
    if (over.aborted) {
      end();
      throw new UnreadableBodyError(GONE);
    }
    return end;
  }

  private fits(bodies: Bodies, amount: number): boolean {
    return bodies.amount === 0 || bodies.amount + amount <= this.rules.limit.most;
  }

  private end(caller: string, bodies: Bodies, amount: number): void {
    bodies.amount -= amount;
    while (bodies.line.first !== undefined && this.fits(bodies, bodies.line.first)) {
      bodies.amount += bodies.line.admit() ?? 0;
    }
    if (bodies.amount === 0) {
      this.callers.delete(caller);
    }
  }
}
