import { outboundClient } from '../../../common/outbound/configured-outbound.js';
import { HeavySeats } from '../../../common/outbound/heavy-seats.js';
import type { OutboundClient } from '../../../common/outbound/outbound.client.js';
import type { OutsideSettings } from '../model/outside-settings.js';
import { OAuthTokenClient } from './oauth-token.client.js';

/** Large answers in memory at once, and how long one is safe while others wait. */
const HEAVY_SEATS = 4;
const HEAVY_LEASE_MS = 2_000;
/** Ways to ask for a token that one request may try, each with an answer of its own. */
const TOKEN_ANSWERS = 4;

/** The clients of a worker for outside parties: of any server, and of token endpoints. */
export function outsideClients(settings: OutsideSettings): {
  outbound: OutboundClient;
  tokens: OAuthTokenClient;
} {
  const { tokenMaxBytes } = settings;
  const outbound = outboundClient(settings.outbound, { seats: new HeavySeats(HEAVY_SEATS, HEAVY_LEASE_MS) });
  const tokens = new OAuthTokenClient(outbound, {
    deadlineMs: settings.tokenTimeoutMs,
    maxResponseBytes: tokenMaxBytes,
    maxTotalBytes: tokenMaxBytes * TOKEN_ANSWERS,
  });
  return { outbound, tokens };
}
