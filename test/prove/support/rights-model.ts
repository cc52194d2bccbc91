import type { Random } from '../../support/runtime/random.js';

/** Permissions that the rules of the proof know. */
export const PERMISSIONS = [
  'integration-management',
  'application-delivery',
  'process-read',
  'process-administration',
  'process-data',
  'workflow-test',
  'tool-call',
  'starter',
  'actor',
  'clerk',
] as const;
export type PermissionName = (typeof PERMISSIONS)[number];

/** Applications of the proof; the ids of some begin alike, or differ by case only. */
export const APPS = ['red', 'red-two', 'Red', 'blue'] as const;

/** Who prepares everything: each permission for all applications. */
export const ADMINISTRATOR = 'administrator';

/** PERMISSION_RULES: every permission in every form. */
export const RULES = Object.fromEntries(
  PERMISSIONS.map((name) => [
    name,
    [
      { claim: 'sub', has: ADMINISTRATOR },
      { claim: 'all', has: name },
      { claim: ['roles', 'at'], hasAt: name },
      { claim: ['roles', 'red'], has: name, apps: ['red*'] },
      { claim: ['roles', 'listed'], has: name, appsIn: 'apps' },
      { appsIn: ['lists', name] },
    ],
  ]),
);

/** Somebody who calls, and what the model says of him. */
export interface Caller {
  name: string;
  claims: Record<string, unknown>;
  /** Applications for which the caller has a permission. */
  granted: ReadonlyMap<PermissionName, ReadonlySet<string>>;
}

type Grant = [where: string, value: string, apps: readonly string[]];

/** What each form of a rule means, said once more: the proof holds the service against it. */
function grantsOf(random: Random, name: PermissionName, listed: readonly string[]): Grant[] {
  const app = random.pick(APPS);
  const forms: readonly (() => Grant)[] = [
    () => ['all', name, APPS],
    () => ['at', `${name}@${app}`, [app]],
    () => ['at', `${name}@*`, []],
    () => ['at', name, []],
    () => ['red', name, ['red', 'red-two']],
    () => ['listed', name, listed],
    () => ['lists', app, [app]],
    () => ['lists', 'r*', []],
  ];
  const count = random.pick([0, 0, 1, 1, 2]);
  // A permission for everything is rare: it proves little.
  return Array.from({ length: count }, () => random.pick(random.chance(0.2) ? forms : forms.slice(1))());
}

/** A caller with claims by chance. */
export function callerOf(random: Random, name: string): Caller {
  const listed = random.shuffled(APPS).slice(0, random.between(0, 2));
  const grants = PERMISSIONS.map((permission) => ({
    permission,
    grants: grantsOf(random, permission, listed),
  }));
  const valuesOf = (where: string): string[] =>
    grants.flatMap(({ grants: own }) => own.filter(([place]) => place === where).map(([, value]) => value));
  const lists = grants.map(({ permission, grants: own }) => [
    permission,
    own.filter(([place]) => place === 'lists').map(([, value]) => value),
  ]);
  return {
    name,
    claims: {
      sub: name,
      scope: 'openid',
      all: valuesOf('all'),
      roles: { at: valuesOf('at'), red: valuesOf('red'), listed: valuesOf('listed') },
      lists: Object.fromEntries(lists),
      apps: random.chance(0.5) ? listed : listed.join(' '),
    },
    granted: new Map(
      grants.map(({ permission, grants: own }) => [permission, new Set(own.flatMap(([, , apps]) => apps))]),
    ),
  };
}

/** Applications for which a caller has all of these permissions. */
export function appsFor(caller: Caller, permissions: readonly PermissionName[]): Set<string> {
  return new Set(
    APPS.filter((app) => permissions.every((permission) => caller.granted.get(permission)?.has(app))),
  );
}
