import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { composeServices } from '../../../tools/scripts/deploy/compose.js';
import { TestApp } from '../../support/app.js';
import { createPath, createSystemBody, listPath } from '../../support/factories.js';

interface Realm {
  roles: { realm: { name: string }[] };
  clients: { clientId: string; protocolMappers: { config: Record<string, string> }[] }[];
  users: { serviceAccountClientId: string; realmRoles: string[] }[];
}
const realm = JSON.parse(readFileSync('deploy/compose/realm.json', 'utf8')) as Realm;
const { OIDC_AUDIENCE = '', OIDC_REQUIRED_CLAIMS = '' } = composeServices()['service']?.environment ?? {};

/** Returns the claims that the service reads from a Keycloak 26.4 access token for a client of this realm. */
function claimsOf(clientId: string): Record<string, unknown> {
  const client = realm.clients.find((each) => each.clientId === clientId);
  const roles = realm.users.find((user) => user.serviceAccountClientId === clientId)?.realmRoles ?? [];
  const audiences = client?.protocolMappers.map(({ config }) => config['included.custom.audience']) ?? [];
  return {
    typ: 'Bearer',
    azp: clientId,
    aud: audiences,
    scope: 'profile email',
    realm_access: { roles },
  };
}

describe('the realm of the compose file', () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await TestApp.start({ OIDC_AUDIENCE, OIDC_REQUIRED_CLAIMS });
  });
  afterEach(() => app.close());

  it('grants its service account the permissions of the default rules', async () => {
    const token = await app.tokenWith(claimsOf('svc-ci'));
    const created = await app.request('PATCH', createPath(), { token, body: createSystemBody() });
    expect(created.status).toBe(201);
    const found = await app.request('GET', '/api/platform/discover', { token });
    expect(found.status).toBe(200);
    expect(realm.roles.realm.map(({ name }) => name)).toEqual(realm.users[0]?.realmRoles);
  });

  it('accepts tokens of the front end, but grants nothing without a role', async () => {
    const token = await app.tokenWith(claimsOf('svc-web'));
    expect((await app.request('GET', listPath(), { token })).status).toBe(403);
  });
});
