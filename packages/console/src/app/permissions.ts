import type { AskedPermissions } from '../../../client/src/index.js';
import type { PERMISSION_NAMES } from './permission-names.js';
import { caller } from './session.js';

export type PermissionName = (typeof PERMISSION_NAMES)[number];

/** Whether the user has a permission for an application, or for any if none is given. Only hides controls: the service enforces. */
export function may(permission: PermissionName, appId?: string): boolean {
  return has(permission, appId);
}

/** Features that are off unless a setting names their permission. */
const OFF_BY_DEFAULT: ReadonlySet<keyof AskedPermissions> = new Set(['toolCall']);

/** Whether the user may use a feature whose permission is a setting. Without the setting, most features are open to everyone. */
export function mayUse(feature: keyof AskedPermissions, appId?: string): boolean {
  const permission = caller.value?.asked[feature];
  return permission === null
    ? !OFF_BY_DEFAULT.has(feature)
    : permission !== undefined && has(permission, appId);
}

/** Like {@link may}, for any permission name, including those that packages define. */
export function has(permission: string, appId?: string): boolean {
  const granted = caller.value?.permissions.find((one) => one.permission === permission);
  return (
    granted !== undefined &&
    (appId === undefined ||
      granted.applications === null ||
      granted.applications.some((pattern) => meets(appId, pattern)))
  );
}

/** Patterns are ids in which `*` matches any number of characters. */
function meets(appId: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`).test(appId);
}
