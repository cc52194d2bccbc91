import { z } from 'zod';
import { json } from './json-setting.js';

const CLAIM = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);
const VALUE = z.string().min(1);
const APPS = z.array(z.string().regex(/^[A-Za-z0-9._*-]{1,64}$/)).min(1);

// Strict: a misspelt member that says for which applications would otherwise grant for all of them.
const RULE = z.union([
  z.strictObject({ claim: CLAIM, has: VALUE }),
  z.strictObject({ claim: CLAIM, has: VALUE, apps: APPS }),
  z.strictObject({ claim: CLAIM, has: VALUE, appsIn: CLAIM }),
  z.strictObject({ appsIn: CLAIM }),
  z.strictObject({ claim: CLAIM, hasAt: VALUE }),
]);

/**
 * Grants a permission when the claim holds the value (`has`). A path of a claim is a list, since claim names contain dots and
 * URLs. It is granted for all applications, for those that meet one of the patterns `apps`, or for those that another claim
 * lists (`appsIn`, also without a value to hold). `hasAt` grants it for each application that follows the value and `@`.
 */
export type PermissionRule = z.output<typeof RULE>;

/** Permission -> rules, any of which grants it (setting PERMISSION_RULES). */
export type PermissionRules = Readonly<Record<string, readonly PermissionRule[]>>;

const DEFAULT: Record<string, PermissionRule[]> = {
  'integration-management': [
    { claim: 'scope', has: 'integration:manage' },
    { claim: ['realm_access', 'roles'], has: 'integration-management' },
  ],
  'application-delivery': [
    { claim: 'scope', has: 'application:deliver' },
    { claim: ['realm_access', 'roles'], has: 'application-delivery' },
  ],
  'process-read': [
    { claim: 'scope', has: 'process:read' },
    { claim: ['realm_access', 'roles'], has: 'process-read' },
  ],
  'process-administration': [
    { claim: 'scope', has: 'process:administer' },
    { claim: ['realm_access', 'roles'], has: 'process-administration' },
  ],
  'process-data': [
    { claim: 'scope', has: 'process:correct' },
    { claim: ['realm_access', 'roles'], has: 'process-data' },
  ],
  'workflow-test': [
    { claim: 'scope', has: 'workflow:test' },
    { claim: ['realm_access', 'roles'], has: 'workflow-test' },
  ],
  'tool-call': [
    { claim: 'scope', has: 'tool:call' },
    { claim: ['realm_access', 'roles'], has: 'tool-call' },
  ],
};

const SHAPE =
  'must map a permission to a list of rules: { claim, has }, { claim, has, apps }, { claim, has, appsIn }, { appsIn } or { claim, hasAt }';

/** The setting PERMISSION_RULES. */
export const permissionRules = json(z.record(z.string(), z.array(RULE)), SHAPE).default(DEFAULT);
