import { Injectable } from '@nestjs/common';
import { Permission } from '../../../common/auth/permission.js';
import type { Grant } from '../../../common/user/grant.js';
import type { Principal } from '../../../common/user/principal.js';
import { Env } from '../../../config/env.js';

const NONE: Grant = { ids: new Set(), patterns: [] };

/**
 * Whose registrations a caller sees in scans: those of the applications for which the caller has `DISCOVERY_PERMISSION`. Without
 * this setting it is `integration-management` that counts, where a rule grants it for some applications only; else all are seen.
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

  /** Applications whose registrations a caller sees. */
  of({ permissions }: Principal): Grant {
    return this.permission === undefined ? 'all' : (permissions.get(this.permission) ?? NONE);
  }
}
