import { outboundClient } from '../../../common/outbound/configured-outbound.js';
import { HeavySeats } from '../../../common/outbound/heavy-seats.js';
import type { OutboundClient } from '../../../common/outbound/outbound.client.js';
import type { McpWorkerSettings } from '../model/worker-settings.js';
import { OAuthTokenClient } from './oauth-token.client.js';

/** Large answers in memory at once, and how long one is safe while others wait. */
const HEAVY_SEATS = 4;
const HEAVY_LEASE_MS = 2_000;
/** Ways to ask for a token that one request may try, each with an answer of its own. */
const TOKEN_ANSWERS = 4;

/** The clients of a worker, of servers and token endpoints. @param deadlineMs of a request for a token */
export function outsideClients(
  { outbound: settings, limits }: McpWorkerSettings,
  deadlineMs: number,
): { outbound: OutboundClient; tokens: OAuthTokenClient } {
  const maxResponseBytes = limits.tokenEndpointMaxBytes;
  const outbound = outboundClient(settings, { seats: new HeavySeats(HEAVY_SEATS, HEAVY_LEASE_MS) });
  const tokenLimits = { deadlineMs, maxResponseBytes, maxTotalBytes: maxResponseBytes * TOKEN_ANSWERS };
  return { outbound, tokens: new OAuthTokenClient(outbound, tokenLimits) };
}
