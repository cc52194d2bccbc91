import type { OutboundOperation } from '../../../common/outbound/outbound.operation.js';
import { retryAfterOf } from '../../../common/outbound/retry-after.js';
import { pauseFor } from './shared-work.js';

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
 * @returns the first answer but 429, or the 429 after which there is no time to wait
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
 * Waits as long as the server asks.
 * @returns false at once where it asks for nothing, or for more time than is left
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
