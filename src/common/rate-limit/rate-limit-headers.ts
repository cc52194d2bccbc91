import type { ServerResponse } from 'node:http';

const WINDOW_SECONDS = 60;

/** A limit as its caller stands to it. */
export interface RateLimitState {
  /** Requests in a window of 60 seconds. */
  readonly most: number;
  /** Requests that are left in this window. */
  readonly left: number;
  /** Until it ends. */
  readonly seconds: number;
}

/**
 * Adds a limit to the headers `RateLimit-Policy` and `RateLimit` of an answer (draft-ietf-httpapi-ratelimit-headers-10, lists of RFC 9651): an
 * answer can be subject to several.
 */
export function tellRateLimit(
  response: ServerResponse,
  policy: string,
  { most, left, seconds }: RateLimitState,
): void {
  add(response, 'RateLimit-Policy', `"${policy}";q=${most};w=${WINDOW_SECONDS}`);
  add(response, 'RateLimit', `"${policy}";r=${left};t=${seconds}`);
}

function add(response: ServerResponse, name: string, item: string): void {
  const told = response.getHeader(name);
  response.setHeader(name, typeof told === 'string' ? `${told}, ${item}` : item);
}
