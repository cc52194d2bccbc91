import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import {
  createPath,
  createSystemBody,
  serviceAccount,
  systemPath,
  uniqueName,
} from '../../support/factories.js';

const RULES = {
  'integration-management': [
    { claim: 'sub', has: 'user-1' },
    { claim: 'roles', hasAt: 'manage' },
  ],
  platform: [
    { claim: 'sub', has: 'user-1' },
    { claim: 'roles', hasAt: 'platform' },
  ],
};
const DISCOVER = '/api/platform/discover';

describe.each([
  ['without DISCOVERY_PERMISSION', 'manage', {}],
  ['with DISCOVERY_PERMISSION', 'platform', { DISCOVERY_PERMISSION: 'platform' }],
])('registered servers in scans, %s', (_name, role, settings) => {
  let app: TestApp;
  const [loans, cards] = [uniqueName('loans'), uniqueName('cards')];
  /** Endpoint that only this application has registered, by application id. */
  const servers = new Map<string, string>();
  /** Resource ids of these servers, by application id. */
  const resources = new Map<string, string>();

  beforeAll(async () => {
    app = await TestApp.start({ PERMISSION_RULES: JSON.stringify(RULES), EGRESS_ALLOW: '', ...settings });
    for (const appId of [loans, cards]) {
      servers.set(appId, `https://127.0.0.1:9/${appId}`);
      const authorization = serviceAccount({ identityProviderUrl: 'https://127.0.0.1:9/shared' });
      const body = createSystemBody({ payload: { baseUrl: servers.get(appId), authorization } });
      const created = await app.request<{ resourceId: string }>('PATCH', createPath(appId, 'v1'), { body });
      expect(created.status).toBe(201);
      resources.set(appId, created.body.resourceId);
    }
  });
  afterAll(() => app.close());

  const seen = (text: string): string[] =>
    [...servers].flatMap(([appId, url]) => (text.includes(url) ? [appId] : []));
  const tokenOf = (...roles: string[]): Promise<string> =>
    app.tokenWith({ scope: 'openid', sub: uniqueName('caller'), roles });

  it('are visible to callers with the permission for their application, in the response, the history and the changes', async () => {
    const all = await app.request('GET', DISCOVER);
    expect(seen(all.text)).toEqual([loans, cards]);
    const token = await tokenOf(`${role}@${loans}`);
    const { text, body } = await app.request<{
      externalIntegrations: Record<string, { name: string; endpoint: string }>;
      summary: { issuesDetected: number; recommendations: string[] };
    }>('GET', DISCOVER, { token });
    expect(seen(text)).toEqual([loans]);
    expect(text).not.toContain(cards.replaceAll('_', '-'));
    expect(text).toContain('https://127.0.0.1:9/shared');
    expect(body.summary.issuesDetected).toBe(body.summary.recommendations.length);

    const { scans } = (await app.request<{ scans: { id: number }[] }>('GET', `${DISCOVER}/scans`, { token }))
      .body;
    const scan = await app.request('GET', `${DISCOVER}/scans/${scans[0]?.id}`, { token });
    expect(seen(scan.text)).toEqual([loans]);

    const changes = await app.request<{ changes: { key: string; map: string }[] }>(
      'GET',
      `${DISCOVER}/changes?limit=100`,
      { token },
    );
    const keys = new Set(changes.body.changes.map(({ key }) => key));
    const shown = Object.keys(body.externalIntegrations).filter((key) => /^(mcp|token)-/.test(key));
    expect(shown).toHaveLength(2);
    expect(shown.filter((key) => !keys.has(key))).toEqual([]);
    expect(changes.text).not.toContain(cards.replaceAll('_', '-'));
    const complete = await app.request('GET', `${DISCOVER}/changes?limit=100`);
    expect(complete.text).toContain(cards.replaceAll('_', '-'));
  });

  it('are hidden from callers without the permission for their application', async () => {
    const { status, text } = await app.request('GET', DISCOVER, {
      token: await tokenOf(`${role}@elsewhere`),
    });
    expect(status).toBe(200);
    expect(seen(text)).toEqual([]);
    const changes = await app.request('GET', `${DISCOVER}/changes?limit=100`, {
      token: await tokenOf(`${role}@elsewhere`),
    });
    expect(changes.text).not.toMatch(/"key":"(mcp|token)-/);
  });

  it('are reported as removed only to callers who see all of them, but every caller sees the number of changes', async () => {
    const path = systemPath(resources.get(loans) ?? '', loans, 'v1');
    expect((await app.request('DELETE', path)).status).toBe(200);
    const scan = (token?: string) =>
      app.request<{ summary: { configurationChanges: number } }>('GET', DISCOVER, token ? { token } : {});
    expect((await scan()).body.summary.configurationChanges).toBe(1);
    const gone = async (token?: string): Promise<boolean> => {
      const { text } = await app.request('GET', `${DISCOVER}/changes?limit=100`, token ? { token } : {});
      return text.includes('"event":"removed"') && text.includes(loans.replaceAll('_', '-'));
    };
    const token = await tokenOf(`${role}@${loans}`);
    expect([await gone(), await gone(token)]).toEqual([true, false]);
    const { scans } = (await app.request<{ scans: object[] }>('GET', `${DISCOVER}/scans`, { token })).body;
    expect(scans[0]).toMatchObject({ configurationChanges: 1 });
  });
});

it('registered servers are visible to every caller if no rule names applications', async () => {
  const app = await TestApp.start({ EGRESS_ALLOW: '' });
  const body = createSystemBody({ payload: { baseUrl: 'https://127.0.0.1:9/open' } });
  expect((await app.request('PATCH', createPath(uniqueName('app'), 'v1'), { body })).status).toBe(201);
  const { text } = await app.request('GET', DISCOVER, { token: await app.tokenWith({ scope: 'openid' }) });
  expect(text).toContain('https://127.0.0.1:9/open');
  await app.close();
});
