import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { toolPath } from '../../support/factories.js';
import { startToolListPeer, type ScriptedMcpPeer } from '../../support/peers/scripted-mcp.peer.js';
import { commitVersion, createSystem, readSystem, testConnection, type SystemBody } from './tool-support.js';

const schema = { type: 'object' };

describe('PATCH /resource/app/{appId}/app-version/{versionId}/rt/system/ri/{systemResourceId}/integration/api/systems/ri/{systemId}/tool/{toolId}/enable', () => {
  let app: TestApp;
  let server: ScriptedMcpPeer;
  let system: SystemBody;
  let other: SystemBody;

  beforeAll(async () => {
    app = await TestApp.shared();
    server = await startToolListPeer([
      { name: 'Echo', inputSchema: schema },
      { name: 'echo', inputSchema: schema },
    ]);
    const created = [
      await createSystem(app, { baseUrl: server.url }),
      await createSystem(app, { baseUrl: server.url }),
    ];
    await testConnection(app, { baseUrl: server.url });
    system = await readSystem(app, created[0]!.resourceId);
    other = await readSystem(app, created[1]!.resourceId);
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });

  const pathOf = (owner: SystemBody = system, toolId = owner.tools[1]!.id, systemId = owner.id): string =>
    toolPath({ resourceId: owner.resourceId, systemId, toolId });
  const enable = (enabled: unknown, path = pathOf()) => app.request('PATCH', path, { body: { enabled } });

  it('disables and enables one tool, and changes nothing when repeated', async () => {
    const tool = { id: system.tools[1]!.id, name: 'echo' };

    const off = await enable(false);
    expect(off.status).toBe(200);
    expect(off.body).toEqual({
      status: 200,
      message: 'Tool disabled.',
      tool: { ...tool, enabled: false },
      affectedNodes: [],
    });
    const afterOff = await readSystem(app, system.resourceId);
    expect(afterOff.tools.map(({ name, enabled }) => [name, enabled])).toEqual([
      ['Echo', true],
      ['echo', false],
    ]);

    expect((await enable(false)).body).toMatchObject({
      message: 'Tool is already disabled.',
      tool: { enabled: false },
    });
    expect(await readSystem(app, system.resourceId)).toEqual(afterOff);

    expect((await enable(true)).body).toMatchObject({
      message: 'Tool enabled.',
      tool: { ...tool, enabled: true },
    });
    expect((await enable(true)).body['message']).toBe('Tool is already enabled.');
  });

  it('records who changed the system, only if something changed', async () => {
    const before = await readSystem(app, system.resourceId);
    const token = await app.tokenWith({
      given_name: 'Max',
      family_name: 'Muster',
      preferred_username: 'max',
    });

    await app.request('PATCH', pathOf(), { token, body: { enabled: true } });
    expect((await readSystem(app, system.resourceId)).modifiedDate).toBe(before.modifiedDate);

    await app.request('PATCH', pathOf(), { token, body: { enabled: false } });
    const after = (await readSystem(app, system.resourceId)) as SystemBody & {
      modifiedBy: unknown;
      createdBy: unknown;
    };
    expect(after.modifiedBy).toEqual({
      firstName: 'Max',
      lastName: 'Muster',
      userName: 'max',
      impersonatingUser: null,
    });
    expect(after.createdBy).toMatchObject({ userName: 'jane.doe' });
    expect(after.modifiedDate > before.modifiedDate).toBe(true);
    await enable(true);
  });

  it.each([
    ['the tool does not exist', () => pathOf(system, 'nothing'), 'Tool not found.'],
    ['the tool belongs to another system', () => pathOf(system, other.tools[0]!.id), 'Tool not found.'],
    [
      'the two ids of the system disagree',
      () => pathOf(system, system.tools[0]!.id, other.id),
      'Tool not found.',
    ],
    ['there is no such system', () => pathOf({ ...system, resourceId: 'nothing' }), 'System not found.'],
    ['the system is in another version', () => pathOf().replace('/v1/', '/v2/'), 'System not found.'],
    [
      'the system is in another application',
      () => pathOf().replace('/app/app/', '/app/App/'),
      'System not found.',
    ],
    [
      'the id of the tool is in another case',
      () => pathOf(system, system.tools[0]!.id.toUpperCase()),
      'Tool not found.',
    ],
    [
      'the id of the system is in another case',
      () => pathOf(system, system.tools[0]!.id, system.id.toUpperCase()),
      'Tool not found.',
    ],
    ['the version is in another case', () => pathOf().replace('/v1/', '/V1/'), 'System not found.'],
  ])('answers 404 when %s, even with an invalid body', async (_case, path, message) => {
    for (const request of [{ body: { enabled: false } }, { body: { wrong: 1 } }, { rawBody: '{' }]) {
      const response = await app.request('PATCH', path(), request);
      expect(response.status).toBe(404);
      expect(response.body['message']).toBe(message);
    }
  });

  it('checks the token, then the permission', async () => {
    expect((await app.request('PATCH', pathOf(), { token: null, rawBody: '{' })).status).toBe(401);
    const token = await app.tokenWith({ scope: '' });
    const response = await app.request('PATCH', pathOf(system, 'nothing'), { token, rawBody: '{' });
    expect(response.status).toBe(403);
    expect(response.body['message']).toBe('Insufficient permissions to access Integration Management');
  });

  it('switches a tool in a committed version without changing its system', async () => {
    const baseUrl = server.url;
    const created = await createSystem(app, { baseUrl, versionId: 'done' });
    await testConnection(app, { baseUrl, versionId: 'done' });
    const committed = await readSystem(app, created.resourceId, 'done');
    await commitVersion(app, 'done');
    const ids = { resourceId: committed.resourceId, systemId: committed.id, toolId: committed.tools[0]!.id };
    const path = toolPath(ids, 'app', 'done');

    expect((await enable('no', path)).status).toBe(400);
    for (const enabled of [false, false, true]) {
      const response = await enable(enabled, path);
      expect(response).toMatchObject({ status: 200, body: { status: 200, tool: { enabled } } });
      const now = await readSystem(app, committed.resourceId, 'done');
      expect(now.tools[0]?.enabled).toBe(enabled);
      expect({ ...now, tools: [] }).toEqual({ ...committed, tools: [] });
    }
  });
});
