import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { StubIssuer } from '../../support/issuer.js';
import { OidcIssuer } from '../../support/oidc-issuer.js';
import { call, post, seen, startGuardedApp, type GuardedApp } from './guarded-app.js';

const SECRET = 'a-client-secret-of-at-least-32-bytes';

describe('a company with its own OpenID Connect provider', () => {
  let sso: OidcIssuer;
  let app: GuardedApp;

  beforeAll(async () => {
    const names = { given_name: 'Ana', family_name: 'Maier', preferred_username: 'ana.maier' };
    sso = await OidcIssuer.start([
      { id: 'by-scope', secret: SECRET, claims: names },
      { id: 'by-role', secret: SECRET, claims: { realm_access: { roles: ['integration-management'] } } },
      { id: 'nobody', secret: SECRET },
    ]);
    app = await startGuardedApp({ issuerUrl: sso.url, settings: { DISCOVERY_PERMISSION: 'process-read' } });
  });
  afterAll(async () => {
    await app?.stop();
    await sso?.stop();
  });
  beforeEach(() => {
    seen.denials = [];
  });

  it('is served by scope, with the names of the token', async () => {
    const answer = await call(`${app.url}/guarded`, await sso.token('by-scope'), post);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      issuer: sso.url,
      subject: 'by-scope',
      user: { firstName: 'Ana', lastName: 'Maier', userName: 'ana.maier', impersonatingUser: null },
    });
  });

  it('is served by realm role, with the client id as user name', async () => {
    const answer = await call(`${app.url}/guarded`, await sso.token('by-role', ''), post);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ user: { firstName: '', lastName: '', userName: 'by-role' } });
  });

  it('is refused with the message of the contract without scope and role, and the denial is reported', async () => {
    const answer = await call(`${app.url}/guarded`, await sso.token('nobody', 'platform:discover'), post);
    expect(answer.status).toBe(403);
    expect(answer.body).toEqual({
      error: 'Forbidden',
      message: 'Insufficient permissions to access Integration Management',
      status: 403,
    });
    expect(answer.headers.get('www-authenticate')).toBeNull();
    expect(seen.denials).toEqual([{ subject: 'nobody', permission: 'integration-management' }]);
  });

  it('is refused where the deployment requires a permission, and the denial is reported', async () => {
    const answer = await call(`${app.url}/chosen`, await sso.token('nobody', ''));
    expect(answer.status).toBe(403);
    expect(seen.denials).toEqual([{ subject: 'nobody', permission: 'process-read' }]);
  });

  it('needs no permission where none is required', async () => {
    expect((await call(`${app.url}/any-caller`, await sso.token('nobody', ''))).status).toBe(200);
  });

  it('is served during a key rotation, with tokens of the old and the new key', async () => {
    const old = await sso.token('by-scope');
    await sso.rotate();
    expect((await call(`${app.url}/guarded`, await sso.token('by-scope'), post)).status).toBe(201);
    expect((await call(`${app.url}/guarded`, old, post)).status).toBe(201);
  });
});

describe('tokens in the shape of', () => {
  const rules = {
    'integration-management': [
      { claim: ['realm_access', 'roles'], has: 'integration-management' },
      { claim: ['resource_access', 'svc.platform', 'roles'], has: 'manage' },
      { claim: 'scope', has: 'integration:manage' },
      { claim: 'scp', has: 'Integration.Manage' },
      { claim: 'roles', has: 'Integration.Manage.All' },
      { claim: 'groups', has: 'Integration Admins' },
      { claim: 'permissions', has: 'integration:manage' },
      { claim: 'https://example.com/roles', has: 'admin' },
    ],
  };
  let issuer: StubIssuer;
  let app: GuardedApp;

  beforeAll(async () => {
    issuer = await StubIssuer.start();
    app = await startGuardedApp({
      issuerUrl: issuer.url,
      settings: { PERMISSION_RULES: JSON.stringify(rules) },
    });
  });
  afterAll(async () => {
    await app?.stop();
    await issuer?.stop();
  });

  const without = { scope: undefined, preferred_username: undefined };
  const shapes: Record<string, { claims: Record<string, unknown>; header?: Record<string, unknown> }> = {
    'Keycloak, realm role': {
      claims: { typ: 'Bearer', azp: 'web', realm_access: { roles: ['user', 'integration-management'] } },
      header: { typ: 'JWT' },
    },
    'Keycloak, client role': {
      claims: { typ: 'Bearer', azp: 'web', resource_access: { 'svc.platform': { roles: ['manage'] } } },
      header: { typ: 'JWT' },
    },
    'Entra, user': {
      claims: { ver: '2.0', tid: 't', oid: 'o', azp: 'web', scp: 'openid Integration.Manage' },
      header: { typ: 'JWT' },
    },
    'Entra, application': {
      claims: { ver: '2.0', tid: 't', azp: 'daemon', idtyp: 'app', roles: ['Integration.Manage.All'] },
      header: { typ: 'JWT' },
    },
    'Okta, scope list': {
      claims: { ver: 1, cid: 'web', scp: ['openid', 'Integration.Manage'] },
      header: { typ: undefined },
    },
    'Okta, group': {
      claims: { ver: 1, cid: 'web', groups: ['Everyone', 'Integration Admins'] },
      header: { typ: undefined },
    },
    'Auth0, permissions': {
      claims: { azp: 'web', permissions: ['integration:manage'] },
      header: { typ: 'JWT' },
    },
    'Auth0, own claim': {
      claims: { azp: 'web', 'https://example.com/roles': ['admin'] },
      header: { typ: 'JWT' },
    },
    'RFC 9068': {
      claims: { client_id: 'web', scope: 'openid integration:manage' },
      header: { typ: 'at+jwt' },
    },
  };

  it.each(Object.entries(shapes))('%s are understood', async (_name, { claims, header }) => {
    const token = await issuer.sign({ ...without, ...claims }, header ? { header } : {});
    expect((await call(`${app.url}/guarded`, token, post)).status).toBe(201);
  });

  it.each([
    ['a scope that only has the same prefix', { scope: 'integration:manage:read' }],
    ['a scope in other case', { scope: 'Integration:Manage' }],
    ['scopes split by commas', { scope: 'openid,integration:manage' }],
    ['a group as part of a text', { groups: 'Integration Admins' }],
    ['a role as object key', { realm_access: { roles: { 'integration-management': true } } }],
    ['a role nested deeper', { roles: [['Integration.Manage.All']] }],
    ['a role of another client', { resource_access: { other: { roles: ['manage'] } } }],
    ['a dotted name instead of a path', { 'realm_access.roles': ['integration-management'] }],
    ['a number', { scope: 7 }],
    ['null', { realm_access: null, scope: null }],
  ])('%s grants nothing', async (_name, claims) => {
    const token = await issuer.sign({ ...without, ...claims });
    expect((await call(`${app.url}/guarded`, token, post)).status).toBe(403);
  });
});
