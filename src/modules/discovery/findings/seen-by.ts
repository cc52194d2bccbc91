import { covers, type Grant } from '../../../common/user/grant.js';
import type { DiscoveryResult } from '../model/scan.types.js';

/** How the keys of MCP servers and token endpoints begin that callers have registered. */
export const REGISTRATION_PREFIXES = ['mcp-', 'token-'] as const;

const NAMED = /^externalIntegrations\.([A-Za-z0-9_-]+): /;

/** Whether a component with this key can be one that callers have registered. */
export function isKeyOfRegistration(key: string): boolean {
  return REGISTRATION_PREFIXES.some((prefix) => key.startsWith(prefix));
}

/**
 * What somebody may see of the answer of a scan: everything but what only other applications have registered. The other numbers
 * of the summary are those of the whole scan.
 * @param grant applications whose registrations are shown
 */
export function seenBy(grant: Grant, result: DiscoveryResult): DiscoveryResult {
  if (grant === 'all') {
    return result;
  }
  const { registered, externalIntegrations, summary } = result;
  const isSeen = (key: string): boolean => {
    const apps = Object.hasOwn(registered, key) ? (registered[key] ?? []) : null;
    return apps === null || apps.some((appId) => covers(grant, appId));
  };
  const recommendations = summary.recommendations.filter((text) => {
    const key = NAMED.exec(text)?.[1];
    return key === undefined ? !text.startsWith('Source registered:') : isSeen(key);
  });
  return {
    ...result,
    externalIntegrations: Object.fromEntries(
      Object.entries(externalIntegrations).filter(([key]) => isSeen(key)),
    ),
    summary: { ...summary, issuesDetected: recommendations.length, recommendations },
  };
}
