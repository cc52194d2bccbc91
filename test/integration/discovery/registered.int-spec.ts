import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Component } from '../../../src/discovery/model/component.types.js';
import type { ComponentSource } from '../../../src/discovery/sources/listing.js';
import { SOURCES } from '../../../src/discovery/sources/sources.js';
import { RegisteredSource } from '../../../src/discovery/sources/registered.source.js';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { AuthorizationType, SystemType } from '../../../src/systems/model/system.types.js';
import { SystemsService } from '../../../src/systems/registration/systems.service.js';
import { TestApp } from '../../support/app.js';
import { serviceAccount } from '../../support/factories.js';
import { createdSystem, insertSystem, insertSystems, newPlace } from '../systems/rows.js';
import { limitedEnv } from '../../support/limits/limits.js';

const never = new AbortController().signal;

describe('RegisteredSource', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => app.dataSource.getRepository(SystemEntity).deleteAll());

  const sourceOf = (settings: Record<string, string>) =>
    new RegisteredSource(limitedEnv('maintenance', settings), app.nest.get(SystemsService));
  const systemsIn = async (settings: Record<string, string> = {}) => {
    const { components } = await sourceOf(settings).list(never);
    return components.filter(({ kind }) => kind === 'mcp' || kind === 'token-endpoint');
  };
  const shown = ({ key, kind, name, endpoint, options }: Component) => ({
    key,
    kind,
    name,
    endpoint,
    options,
  });

  it('is one of the sources, and lists the single sign-on and the database of the service', async () => {
    const source = app.nest.get<ComponentSource[]>(SOURCES).find(({ name }) => name === 'registered');
    const { components, rejected } = await source!.list(never);
    expect(rejected).toEqual([]);
    expect(components.find(({ key }) => key === 'singleSignOn')).toMatchObject({
      kind: 'oidc',
      map: 'externalIntegrations',
      endpoint: app.issuer.url,
      trust: 'operator',
    });
    const isServer = /^(mysql|mariadb):/.test(process.env['DATABASE_URL'] ?? '');
    expect(components.some(({ key }) => key === 'database')).toBe(isServer);
  });

  it('separates the credentials of the database from its address', async () => {
    const DATABASE_URL = 'mariadb://svc:p%23CANARY@db.example.com:3307/svc?charset=x';
    const { components } = await sourceOf({ DATABASE_URL, DATABASE_TLS: 'true' }).list(never);
    expect(components).toEqual([
      expect.objectContaining({
        key: 'database',
        kind: 'mysql',
        map: 'infrastructure',
        endpoint: 'mariadb://db.example.com:3307/svc',
        credentials: { username: 'svc', password: 'p#CANARY' },
        options: { tls: true },
        trust: 'operator',
      }),
    ]);
  });

  it('names MCP servers by application and system, and lists their token endpoints once', async () => {
    const identityProviderUrl = 'https://sso.example.com/token';
    const place = { appId: 'loans.eu', versionId: 'v1' };
    await createdSystem(app, place, {
      resourceName: 'stock(1)',
      payload: { baseUrl: 'https://mcp.example.com/mcp/' },
    });
    for (const resourceName of ['one', 'two']) {
      const authorization = serviceAccount({ identityProviderUrl });
      await createdSystem(app, place, {
        resourceName,
        payload: { baseUrl: 'https://two.example.com', authorization },
      });
    }
    await insertSystem(app, place, { type: SystemType.Rest, baseUrl: 'https://rest.example.com' });
    const components = await systemsIn();
    const hash = expect.stringMatching(/-[0-9a-f]{8}$/) as string;
    expect(components.map(shown)).toEqual([
      {
        key: hash,
        kind: 'mcp',
        name: 'loans.eu/stock(1)',
        endpoint: 'https://mcp.example.com/mcp/',
        options: { authorizationRequired: false },
      },
      expect.objectContaining({ name: 'loans.eu/one', options: { authorizationRequired: true } }),
      {
        key: expect.stringMatching(/^token-sso-example-com-[0-9a-f]{8}$/),
        kind: 'token-endpoint',
        name: 'Token endpoint of sso.example.com',
        endpoint: identityProviderUrl,
        options: {},
      },
      expect.objectContaining({ name: 'loans.eu/two' }),
    ]);
    expect(components[0]?.key).toMatch(/^mcp-loans-eu-stock-1-+[0-9a-f]{8}$/);
    expect(components.every(({ trust, source }) => trust === 'registered' && source === 'registered')).toBe(
      true,
    );
  });

  it('lists a system of several versions once, under the same key while its address is unchanged', async () => {
    const place = newPlace();
    const payload = { baseUrl: 'https://mcp.example.com' };
    await createdSystem(app, place, { resourceName: 'tools', payload });
    const [before] = await systemsIn();
    await createdSystem(app, { ...place, versionId: 'v2' }, { resourceName: 'tools', payload });
    expect(await systemsIn()).toEqual([before]);
    const other = { baseUrl: 'https://other.example.com' };
    await createdSystem(app, { ...place, versionId: 'v3' }, { resourceName: 'tools', payload: other });
    const after = await systemsIn();
    expect(after.map(({ endpoint }) => new URL(endpoint).host)).toEqual([
      'mcp.example.com',
      'other.example.com',
    ]);
    expect(after[0]?.key).toBe(before?.key);
  });

  it('hides the query of an address, and generates only valid keys', async () => {
    const resourceName = '('.repeat(200);
    await insertSystem(
      app,
      { appId: '.'.repeat(64), versionId: 'v1' },
      {
        type: SystemType.Mcp,
        resourceName,
        baseUrl: 'https://mcp.example.com/mcp?key=CANARY',
        authorizationType: AuthorizationType.ServiceAccount,
        identityProviderUrl: 'https://sso.example.com/token?tenant=CANARY',
      },
    );
    const components = await systemsIn();
    expect(components.map(({ options }) => options['query'])).toEqual([
      { key: 'CANARY' },
      { tenant: 'CANARY' },
    ]);
    for (const { options: _options, ...visible } of components) {
      expect(visible.key).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(JSON.stringify(visible)).not.toContain('CANARY');
    }
  });

  it('collects all applications of a token endpoint, even if their servers exceed the limit of a scan', async () => {
    const [first, second] = [newPlace(), newPlace()];
    for (const place of [first, second]) {
      const authorization = serviceAccount({ identityProviderUrl: 'https://sso.example.com/shared' });
      await createdSystem(app, place, {
        resourceName: 'tools',
        payload: { baseUrl: `https://mcp.example.com/${place.appId}`, authorization },
      });
    }
    const [server, shared, ...others] = await systemsIn({ 'discoveryLimits.components': '2' });
    expect([server?.kind, shared?.kind, others]).toEqual(['mcp', 'token-endpoint', []]);
    expect(shared?.apps).toEqual(new Set([first.appId, second.appId]));
  });

  it('reads all pages, but lists at most the maximum number of components', async () => {
    const rows = Array.from({ length: 1_250 }, (_, index) => ({
      type: SystemType.Mcp,
      resourceName: `system-${index}`,
      baseUrl: 'https://mcp.example.com',
      authorizationType: AuthorizationType.NoAuth,
    }));
    for (let start = 0; start < rows.length; start += 250) {
      await insertSystems(app, newPlace(), rows.slice(start, start + 250));
    }
    expect(await systemsIn({ 'discoveryLimits.components': '10000' })).toHaveLength(1_250);
    const { components, rejected } = await sourceOf({ 'discoveryLimits.components': '100' }).list(never);
    expect(components).toHaveLength(100);
    expect(rejected).toEqual([
      { key: 'registered', reason: 'There are more than 100 components; the rest is ignored.' },
    ]);
  });
});
