import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { detailsPath, serviceAccount, systemPath, toolPath, uniqueName } from '../../support/factories.js';
import { sendResult, startScriptedMcp, type ScriptedMcpPeer } from '../../support/peers/scripted-mcp.peer.js';
import { startTokenPeer, type TokenPeer } from '../../support/peers/token.peer.js';
import {
  createdSystem,
  insertSystem,
  systemRow,
  toolRows,
  type Place,
  type SystemBody,
} from '../systems/rows.js';
import { testConnection, type ToolBody } from './tool-support.js';

describe('systems that a connection test covers', () => {
  let app: TestApp;
  let server: ScriptedMcpPeer;
  let idp: TokenPeer;
  let place: Place;
  let tools: string[];
  /** Runs after the server has received the request for its tools and before it answers. */
  let meanwhile: () => Promise<unknown>;

  beforeAll(async () => {
    app = await TestApp.start();
    server = await startScriptedMcp({
      list: ({ id, response }) => {
        const answer = () =>
          sendResult(response, id, {
            tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })),
          });
        meanwhile().then(answer, (error: unknown) => response.destroy(error as Error));
      },
    });
    idp = await startTokenPeer();
  });
  afterAll(async () => {
    await app.close();
    await Promise.all([server.close(), idp.close()]);
  });
  beforeEach(() => {
    place = { appId: 'app', versionId: uniqueName('v') };
    tools = ['alpha', 'beta'];
    meanwhile = () => Promise.resolve();
  });

  const account = (configuration: Record<string, unknown> = {}) =>
    serviceAccount({
      clientId: 'client',
      clientSecret: 'secret',
      identityProviderUrl: idp.url,
      ...configuration,
    });
  const register = (payload: Record<string, unknown> = {}, at = place) =>
    createdSystem(app, at, { payload: { baseUrl: server.url, ...payload } });
  const test = async (authorization?: Record<string, unknown>, baseUrl = server.url) => {
    const target = { baseUrl, versionId: place.versionId, ...(authorization && { authorization }) };
    const { status, body } = await testConnection(app, target);
    expect([status, body.status]).toEqual([200, 200]);
    return body;
  };
  const covered = async (authorization?: Record<string, unknown>, baseUrl?: string) =>
    (await test(authorization, baseUrl)).synchronizedSystems?.map(({ resourceId }) => resourceId).toSorted();
  const change = ({ resourceId }: SystemBody, body: unknown) =>
    app.request('PATCH', systemPath(resourceId, place.appId, place.versionId), { body });
  const flagsOf = async ({ resourceId }: SystemBody) => {
    const path = detailsPath(resourceId, place.appId, place.versionId);
    const { body } = await app.request<{ tools: ToolBody[] }>('GET', path);
    return body.tools.map(({ name, enabled }) => (enabled ? name : `-${name}`));
  };

  it('synchronizes as many systems as time allows, warns about the others, and starts with them next time', async () => {
    const hurried = await TestApp.start({ 'mcpLimits.syncTimeoutMs': '1' });
    const systems = [await register(), await register(), await register()];
    const turns: (string | undefined)[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const { body } = await testConnection(hurried, { baseUrl: server.url, versionId: place.versionId });
      expect(body.synchronizedSystems).toHaveLength(1);
      expect(body.warnings).toContain(
        '2 more systems with this connection were not synchronised in time; test again.',
      );
      turns.push(body.synchronizedSystems?.[0]?.resourceId);
    }
    await hurried.close();
    expect(new Set(turns)).toEqual(new Set(systems.map(({ resourceId }) => resourceId)));
  });

  it('covers no systems if none exist, and creates none', async () => {
    expect(await covered()).toEqual([]);
    expect(await register()).toMatchObject({ tools: [] });
  });

  it('covers all systems of the version with the same connection, regardless of the spelling of its URLs', async () => {
    const origin = server.url.replace('/mcp', '');
    const idpOrigin = idp.url.replace('/token', '');
    const same = [
      await register({ authorization: account() }),
      await register({ authorization: account() }),
      await register({ authorization: account(), baseUrl: `HTTP${origin.slice(4)}/x/../mcp` }),
      await register({
        authorization: account({ identityProviderUrl: `HTTP${idpOrigin.slice(4)}/./token` }),
      }),
    ];

    const ids = same.map(({ resourceId }) => resourceId).toSorted();
    expect(await covered(account())).toEqual(ids);
    expect(await covered(account(), `${origin}/a/b/../../mcp`)).toEqual(ids);
    for (const system of same) {
      expect(await flagsOf(system)).toEqual(['alpha', 'beta']);
    }
  });

  it('covers no system with any difference in its connection, application or version', async () => {
    const other = await startTokenPeer();
    const { appId, versionId } = place;
    const systems = [
      await register(),
      await register({ authorization: account({ clientSecret: 'Secret' }) }),
      await register({ authorization: account({ clientSecret: 'secret ' }) }),
      await register({ authorization: account({ clientId: 'Client' }) }),
      await register({ authorization: account({ identityProviderUrl: other.url }) }),
      await register({ authorization: account(), baseUrl: `${server.url}/` }),
      await register({ authorization: account(), baseUrl: `${server.url}?key=1` }),
      await register({ authorization: account(), baseUrl: server.url.replace('/mcp', '/MCP') }),
      await register({ authorization: account(), baseUrl: server.url.replace('127.0.0.1', 'localhost') }),
      await register({ authorization: account() }, { appId, versionId: `${versionId}x` }),
      await register({ authorization: account() }, { appId, versionId: versionId.toUpperCase() }),
      await register({ authorization: account() }, { appId: 'App', versionId }),
      await register({ authorization: account() }, { appId: uniqueName('app'), versionId }),
    ];

    expect(await covered(account())).toEqual([]);

    const rows = await Promise.all(systems.map(({ id }) => toolRows(app, id)));
    expect(rows.flat()).toEqual([]);
    await other.close();
  });

  it('does not cover systems with credentials if tested without, or systems of another type', async () => {
    const open = await register();
    const closed = await register({ authorization: account() });
    const { connectionKey } = (await systemRow(app, open.id))!;
    await insertSystem(app, place, { connectionKey, baseUrl: server.url });

    expect(await covered()).toEqual([open.resourceId]);
    expect(await toolRows(app, closed.id)).toEqual([]);
  });

  it('covers a system by its current connection', async () => {
    const system = await register();
    await change(system, { authorization: account() });
    expect(await covered()).toEqual([]);
    expect(await covered(account())).toEqual([system.resourceId]);
    await change(system, {
      authorization: { type: 'SERVICE_ACCOUNT', configuration: { clientSecret: 'new' } },
    });
    expect(await covered(account())).toEqual([]);
  });

  it('disables the new tools of a system for review after its server changed', async () => {
    const system = await register();
    await test();
    tools = ['alpha', 'gamma'];
    const elsewhere = `${server.url}?other`;
    await change(system, { baseUrl: elsewhere });

    const [report] = (await test(undefined, elsewhere)).synchronizedSystems ?? [];

    expect(report).toMatchObject({ added: ['gamma'], removed: ['beta'], disabledForReview: ['gamma'] });
    expect(await flagsOf(system)).toEqual(['alpha', '-gamma']);
  });

  it('does not treat the list of a deleted and recreated system as its first list', async () => {
    const name = uniqueName();
    const create = () => createdSystem(app, place, { resourceName: name, payload: { baseUrl: server.url } });
    const first = await create();
    await test();
    await app.request('DELETE', systemPath(first.resourceId, place.appId, place.versionId));
    tools = ['alpha', 'gamma'];
    const second = await create();

    await test();

    expect(await flagsOf(second)).toEqual(['alpha', '-gamma']);
  });

  describe('when a system changes during the test', () => {
    it('does not cover a system that gets credentials', async () => {
      const system = await register();
      const other = await register();
      meanwhile = () => change(system, { authorization: account() });

      expect(await covered()).toEqual([other.resourceId]);
      expect(await toolRows(app, system.id)).toEqual([]);
    });

    it('does not cover a system whose secret is replaced', async () => {
      const system = await register({ authorization: account() });
      meanwhile = () =>
        change(system, {
          authorization: { type: 'SERVICE_ACCOUNT', configuration: { clientSecret: 'new' } },
        });

      expect(await covered(account())).toEqual([]);
      expect(await toolRows(app, system.id)).toEqual([]);
    });

    it('keeps the state of a switched tool', async () => {
      const system = await register();
      await test();
      const [alpha] = await toolRows(app, system.id);
      const ids = { resourceId: system.resourceId, systemId: system.id, toolId: alpha!.id };
      const path = toolPath(ids, place.appId, place.versionId);
      meanwhile = () => app.request('PATCH', path, { body: { enabled: false } });
      tools = ['alpha', 'beta', 'gamma'];

      await test();

      expect(await flagsOf(system)).toEqual(['-alpha', 'beta', '-gamma']);
    });
  });
});
