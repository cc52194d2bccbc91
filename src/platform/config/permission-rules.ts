import { z } from 'zod';
import { json } from './setting-rules.js';

const CLAIM = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);
const VALUE = z.string().min(1);
const APPS = z.array(z.string().regex(/^[A-Za-z0-9._*-]{1,64}$/)).min(1);

// Strict, because a misspelt `apps` or `appsIn` would otherwise grant the permission for all applications.
const RULE = z.union([
  z.strictObject({ claim: CLAIM, has: VALUE }),
  z.strictObject({ claim: CLAIM, has: VALUE, apps: APPS }),
  z.strictObject({ claim: CLAIM, has: VALUE, appsIn: CLAIM }),
  z.strictObject({ appsIn: CLAIM }),
  z.strictObject({ claim: CLAIM, hasAt: VALUE }),
]);

/**
 * Grants a permission when the claim has the value `has`. A claim is a name or, as a list, a path, since claim names
 * may contain dots. The permission is granted for all applications, for those that match one of the patterns `apps`, or
 * for those that the claim `appsIn` lists (also without `claim` and `has`). `hasAt` grants it for each application that
 * follows the value and `@`.
 */
export type PermissionRule = z.output<typeof RULE>;

/** Permission -> rules, any of which grants it (PERMISSION_RULES). */
export type PermissionRules = Readonly<Record<string, readonly PermissionRule[]>>;

/**
 * Default OAuth scope that grants each permission. The Keycloak realm role with the name of the permission grants it
 * too.
 */
const SCOPES = {
  'integration-management': 'integration:manage',
  'application-delivery': 'application:deliver',
  'process-read': 'process:read',
  'process-administration': 'process:administer',
  'process-data': 'process:correct',
  'workflow-test': 'workflow:test',
  'tool-call': 'tool:call',
  'tool-use': 'tool:use',
};

/** Permissions of the service itself; deployments can define more. */
export type BuiltInPermission = keyof typeof SCOPES;
export const BUILT_IN_PERMISSIONS = Object.keys(SCOPES) as BuiltInPermission[];

const DEFAULT: Record<string, PermissionRule[]> = Object.fromEntries(
  Object.entries(SCOPES).map(([permission, scope]) => [
    permission,
    [
      { claim: 'scope', has: scope },
      { claim: ['realm_access', 'roles'], has: permission },
    ],
  ]),
);

const SHAPE =
  'must map a permission to a list of rules: { claim, has }, { claim, has, apps }, { claim, has, appsIn }, { appsIn } or { claim, hasAt }';

export const permissionRules = json(z.record(z.string(), z.array(RULE)), SHAPE).default(DEFAULT);
