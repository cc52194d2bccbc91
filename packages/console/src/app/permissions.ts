import type { AskedPermissions } from '../../../client/src/index.js';
import { caller } from './session.js';

/** Permissions that the service knows by name. */
export type PermissionName =
  | 'integration-management'
  | 'application-delivery'
  | 'process-read'
  | 'process-administration'
  | 'process-data'
  | 'workflow-test';

/**
 * Whether who is signed in has a permission: for an application, or for any where none is named. What he may not do is not offered;
 * the service decides all the same.
 */
export function may(permission: PermissionName, appId?: string): boolean {
  return has(permission, appId);
}

/** What there is only where a setting asks a permission for it. */
const OFF_WITHOUT: ReadonlySet<keyof AskedPermissions> = new Set(['toolCall']);

/** The same for what a setting of the deployment can ask a permission for: without one everybody may. */
export function mayAsked(what: keyof AskedPermissions, appId?: string): boolean {
  const permission = caller.value?.asked[what];
  return permission === null ? !OFF_WITHOUT.has(what) : permission !== undefined && has(permission, appId);
}

/** The same for a permission by its name, which a package may have given it. */
export function has(permission: string, appId?: string): boolean {
  const granted = caller.value?.permissions.find((one) => one.permission === permission);
  return (
    granted !== undefined &&
    (appId === undefined ||
      granted.applications === null ||
      granted.applications.some((pattern) => meets(appId, pattern)))
  );
}

/** Patterns are ids in which `*` stands for any number of characters. */
function meets(appId: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`).test(appId);
}
