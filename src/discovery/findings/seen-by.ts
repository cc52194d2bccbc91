import { Injectable } from '@nestjs/common';
import { covers, type Grant } from '../../platform/user/grant.js';
import type { DiscoveryResult } from '../model/scan.types.js';
import { Permission } from '../../platform/auth/permission.js';
import type { Principal } from '../../platform/user/principal.js';
import { Env } from '../../platform/config/env.js';

/** Key prefixes of MCP servers and token endpoints that callers have registered. */
export const REGISTRATION_PREFIXES = ['mcp-', 'token-'] as const;

const NAMED = /^externalIntegrations\.([A-Za-z0-9_-]+): /;

/** Returns whether a key can belong to a component that callers have registered. */
export function isKeyOfRegistration(key: string): boolean {
  return REGISTRATION_PREFIXES.some((prefix) => key.startsWith(prefix));
}

/**
 * Filters a scan result for a caller: hides components that only other applications have registered.
 * @param grant applications whose registrations are visible
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

const NONE: Grant = { ids: new Set(), patterns: [] };

/**
 * Determines whose registrations a caller sees in scans: those of the applications for which the caller has `DISCOVERY_PERMISSION`. Without
 * this setting `integration-management` decides if a rule grants it for specific applications; otherwise callers see all.
 */
@Injectable()
export class DiscoveryRights {
  private readonly permission: string | undefined;

  constructor(env: Env) {
    const rules = env.get('PERMISSION_RULES')[Permission.IntegrationManagement] ?? [];
    const isByApplication = rules.some((rule) => !('has' in rule) || 'apps' in rule || 'appsIn' in rule);
    this.permission =
      env.get('DISCOVERY_PERMISSION') ?? (isByApplication ? Permission.IntegrationManagement : undefined);
  }

  /** Returns the applications whose registrations a caller sees. */
  of({ permissions }: Principal): Grant {
    return this.permission === undefined ? 'all' : (permissions.get(this.permission) ?? NONE);
  }
}
