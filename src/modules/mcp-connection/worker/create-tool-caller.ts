import { AddressPolicy } from '../../../common/outbound/address-policy.js';
import { HeavySeats } from '../../../common/outbound/heavy-seats.js';
import { OutboundClient } from '../../../common/outbound/outbound.client.js';
import { OAuthTokenClient } from './oauth-token.client.js';
import { SessionOpener } from './session-opener.js';
import type { ToolCallWorkerSettings } from './tool-call.messages.js';
import { ToolCaller } from './tool-caller.js';
import { WarmSessions } from './warm-sessions.js';

/** Large answers in memory at once, and how long one is safe while others wait. */
const HEAVY_SEATS = 4;
const HEAVY_LEASE_MS = 2_000;

/**
 * The caller of a worker, with all it needs.
 * @param onCount hears how many sessions are open whenever that changes
 */
export function createToolCaller(
  settings: ToolCallWorkerSettings,
  onCount: (sessions: number) => void,
): ToolCaller {
  const { maxResultBytes, tokenMaxBytes } = settings;
  const outbound = new OutboundClient({
    policy: new AddressPolicy(settings.policy),
    maxRedirects: settings.maxRedirects,
    connectTimeoutMs: settings.connectTimeoutMs,
    seats: new HeavySeats(HEAVY_SEATS, HEAVY_LEASE_MS),
  });
  const tokens = new OAuthTokenClient(outbound, {
    deadlineMs: settings.tokenTimeoutMs,
    maxResponseBytes: tokenMaxBytes,
    maxTotalBytes: tokenMaxBytes * 4,
  });
  const opener = new SessionOpener({ tokens, limits: settings.opening, toolList: settings.toolList });
  const { maxSessions, idleMs, listMaxAgeMs, acceptsChanges } = settings;
  return new ToolCaller({
    outbound,
    tokens,
    sessions: new WarmSessions({ outbound, opener, maxSessions, idleMs, onCount }),
    callLimits: { maxResponseBytes: maxResultBytes, maxTotalBytes: maxResultBytes },
    listMaxAgeMs,
    acceptsChanges,
  });
}
