import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PERMISSION_NAMES } from '../../packages/console/src/app/permission-names.js';
import { BUILT_IN_PERMISSIONS } from '../../src/platform/config/permission-rules.js';

const realm = JSON.parse(readFileSync('deploy/compose/realm.json', 'utf8')) as {
  roles: { realm: { name: string }[] };
  users: { realmRoles: string[] }[];
};
const LISTS: [string, readonly string[]][] = [
  ['the console', PERMISSION_NAMES],
  ['the roles of realm.json', realm.roles.realm.map(({ name }) => name)],
  ['the machine client of realm.json', realm.users.flatMap(({ realmRoles }) => realmRoles)],
];

describe.each(LISTS)('the permissions of %s', (_, names) => {
  it.each(BUILT_IN_PERMISSIONS)('include %s', (permission) => {
    expect(names).toContain(permission);
  });

  it('include only permissions of the service, once each', () => {
    expect(names.toSorted()).toEqual(BUILT_IN_PERMISSIONS.filter((name) => names.includes(name)).toSorted());
  });
});
