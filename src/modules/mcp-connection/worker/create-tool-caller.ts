import { outsideClients } from './outside-clients.js';
import { SessionOpener } from './session-opener.js';
import type { ToolCallNotice, ToolCallWorkerSettings } from './tool-call.messages.js';
import { ToolCaller } from './tool-caller.js';
import { WarmSessions } from './warm-sessions.js';

/**
 * The caller of a worker, with all it needs.
 * @param onNotice hears how many sessions are open whenever that changes, and of lists that have changed
 */
export function createToolCaller(
  settings: ToolCallWorkerSettings,
  onNotice: (notice: ToolCallNotice) => void,
): ToolCaller {
  const { outbound, tokens } = outsideClients(settings);
  const opener = new SessionOpener({ tokens, limits: settings.opening, toolList: settings.toolList });
  const { maxResultBytes, maxResultValues, maxSessions, idleMs, listMaxAgeMs, acceptsChanges } = settings;
  return new ToolCaller({
    outbound,
    tokens,
    sessions: new WarmSessions({ outbound, opener, maxSessions, idleMs, onNotice }),
    callLimits: {
      maxResponseBytes: maxResultBytes,
      maxTotalBytes: maxResultBytes,
      maxElements: maxResultValues,
    },
    listMaxAgeMs,
    acceptsChanges,
  });
}
