import type { AuditEntry } from '../../audit/recording/audit.service.js';
import { type AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import { SystemNotFoundError } from '../model/systems.errors.js';
import type { SystemEntity } from '../storage/system.entity.js';

/** An event of a system for the audit log of its version. */
export function eventOf(
  action: AuditAction,
  { appId, appVersionId, resourceId, resourceName }: SystemEntity,
  details: Record<string, unknown> = {},
): AuditEntry {
  return {
    action,
    outcome: AuditOutcome.Ok,
    appId,
    appVersionId,
    systemResourceId: resourceId,
    details: { resourceName, ...details },
  };
}

/** @throws SystemNotFoundError when there is none */
export function found<System>(system: System | null): System {
  if (system === null) {
    throw new SystemNotFoundError();
  }
  return system;
}
