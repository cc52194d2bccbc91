import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { ToolEntity } from '../../../src/systems/tools/storage/tool.entity.js';
import { TestApp } from '../../support/app.js';
import { toolPath } from '../../support/factories.js';
import { appPath, deliveryPath, packageDocument, workflowOf } from '../../support/runtime/publish.js';
import { build, commit, store, type Problem } from '../builds/rows.js';
import { agentNode } from '../builds/workflow-nodes.js';
import { createdSystem, insertTools, newPlace, type Place, type SystemBody } from '../systems/rows.js';

interface Preflight {
  ready: boolean;
  nodes: {
    appId: string;
    appVersionId: string;
    buildId: string | null;
    workflow: string;
    nodeId: string;
    nodeName: string;
    ready: boolean;
    reason: string | null;
    systems: {
      appId: string;
      resourceDefinitionId: string;
      resourceName: string;
      state: string;
      reason: string | null;
      tools: { toolId: string; name: string; state: string; reason: string | null }[];
    }[];
  }[];
}

let app: TestApp;
let place: Place;
const RULES = {
  'integration-management': [
    { claim: 'scope', has: 'integration:manage' },
    { claim: 'roles', hasAt: 'manage' },
  ],
  'application-delivery': [{ claim: 'scope', has: 'application:deliver' }],
};
beforeAll(async () => {
  app = await TestApp.start({ 'agentLimits.tools': '3', PERMISSION_RULES: JSON.stringify(RULES) });
});
afterAll(() => app.close());
beforeEach(() => {
  place = newPlace();
});

const referenceTo = ({ resourceDefinitionId }: SystemBody, { appId } = place) => ({
  resourceDefinitionId,
  appId,
});
const delivered = async (mcpServers: object[], libraries?: { appId: string; buildId: string }[]) => {
  const workflows = [workflowOf('flow', [agentNode({}, { mcpServers }) as never])];
  const document = packageDocument(place.appId, {
    package: { workflows },
    ...(libraries === undefined ? {} : { libraries }),
  });
  const { status, text } = await store(app, place, document);
  expect([status, text]).toEqual([200, text]);
};
const built = async () => {
  expect((await commit(app, place)).status).toBe(200);
  const { status, body } = await build(app, place);
  expect(status).toBe(201);
  return body as typeof body & { warnings: Problem[] };
};
const ofVersion = ({ appId, versionId } = place) =>
  app.request<Preflight>('GET', `${deliveryPath(appId, versionId)}/agent-preflight`);
const ofBuild = (buildId: string) =>
  app.request<Preflight>('GET', `${appPath(place.appId)}/build/${buildId}/agent-preflight`);
const statesOf = ({ nodes }: Preflight) =>
  nodes.flatMap(({ systems }) =>
    systems.flatMap(({ tools }) => tools.map(({ name, state }) => [name, state])),
  );

describe('GET /resource/app/{appId}/app-version/{versionId}/agent-preflight', () => {
  it('lists the tools of each agent, and says why it may not use some of them', async () => {
    const system = await createdSystem(app, place, { resourceName: 'Stock' });
    await insertTools(app, system.id, [
      { name: 'ready' },
      { name: 'off', enabled: false },
      { name: 'gone', present: false },
    ]);
    await delivered([referenceTo(system)]);
    const { status, body } = await ofVersion();
    expect(status).toBe(200);
    expect(body).toEqual({
      ready: true,
      nodes: [
        {
          appId: place.appId,
          appVersionId: place.versionId,
          buildId: null,
          workflow: 'flow',
          nodeId: 'agent',
          nodeName: 'Ask',
          ready: true,
          reason: null,
          systems: [
            {
              ...referenceTo(system),
              resourceName: 'Stock',
              state: 'READY',
              reason: null,
              tools: [
                { toolId: expect.any(String), name: 'ready', state: 'READY', reason: null },
                { toolId: expect.any(String), name: 'off', state: 'DISABLED', reason: 'It is disabled.' },
                {
                  toolId: expect.any(String),
                  name: 'gone',
                  state: 'GONE',
                  reason: 'The server no longer lists it.',
                },
              ],
            },
          ],
        },
      ],
    });
  });

  it('distinguishes a tool whose definition changed since the last build from one that was only disabled', async () => {
    const system = await createdSystem(app, place, { resourceName: 'Stock' });
    await insertTools(app, system.id, [{ name: 'one' }, { name: 'two' }]);
    await delivered([referenceTo(system)]);
    await built();
    place = { ...place, versionId: 'v2' };
    const next = await createdSystem(app, place, { resourceName: 'Stock' });
    await insertTools(app, next.id, [
      { name: 'one', enabled: false, definitionHash: '1'.repeat(64) },
      { name: 'two', enabled: false },
    ]);
    await delivered([referenceTo(next)]);
    const { body } = await ofVersion();
    expect(body.ready).toBe(false);
    expect(statesOf(body)).toEqual([
      ['one', 'CHANGED'],
      ['two', 'DISABLED'],
    ]);
  });

  it('reports systems that were never tested and systems that were deleted', async () => {
    const [untested, gone] = [
      await createdSystem(app, place, { resourceName: 'Untested' }),
      await createdSystem(app, place, { resourceName: 'Gone' }),
    ];
    await delivered([referenceTo(untested), referenceTo(gone)]);
    await app.request(
      'DELETE',
      `${deliveryPath(place.appId, place.versionId)}/rt/system/ri/${gone.resourceId}/integration/api/systems`,
    );
    expect((await ofVersion()).body).toMatchObject({
      ready: false,
      nodes: [
        {
          ready: false,
          reason: 'The agent has no ready tool, so every run of the node fails.',
          systems: [
            { resourceName: 'Untested', state: 'NEVER_TESTED', tools: [] },
            { resourceName: 'Gone', state: 'MISSING', reason: expect.stringContaining('no such'), tools: [] },
          ],
        },
      ],
    });
  });

  it('finds the systems of a library in its build', async () => {
    const library = newPlace();
    const system = await createdSystem(app, library, { resourceName: 'Shared' });
    await insertTools(app, system.id, [{ name: 'one' }]);
    await store(app, library, packageDocument(library.appId));
    await commit(app, library);
    const { buildId } = (await build(app, library)).body;
    await delivered([referenceTo(system, library)], [{ appId: library.appId, buildId }]);
    expect(statesOf((await ofVersion()).body)).toEqual([['one', 'READY']]);
    expect(statesOf((await ofBuild((await built()).buildId)).body)).toEqual([['one', 'READY']]);
  });

  it('is ready when there is no agent, and rejects a malformed path', async () => {
    await createdSystem(app, place);
    expect((await ofVersion()).body).toEqual({ ready: true, nodes: [] });
    expect((await ofVersion({ appId: 'a b', versionId: 'v1' })).status).toBe(400);
  });
});

describe('an unknown version', () => {
  it('is answered 404 whether or not the application exists, and 403 without the permission', async () => {
    await createdSystem(app, place);
    const unknown = await ofVersion({ ...place, versionId: 'nosuch' });
    expect([unknown.status, unknown.body]).toMatchObject([
      404,
      { message: 'Application version not found.' },
    ]);
    expect((await ofVersion(newPlace())).status).toBe(404);
    const token = await app.tokenWith({ scope: '', realm_access: { roles: [] } });
    const path = `${deliveryPath(place.appId, 'nosuch')}/agent-preflight`;
    expect((await app.request('GET', path, { token })).status).toBe(403);
  });
});

describe('a node with a system that was never tested', () => {
  it('is not ready, even if other systems have tools, until the connection is tested and another build is made', async () => {
    const untested = await createdSystem(app, place, { resourceName: 'Untested' });
    const system = await createdSystem(app, place, { resourceName: 'Stock' });
    await insertTools(app, system.id, [{ name: 'one' }]);
    await delivered([referenceTo(system), referenceTo(untested)]);
    const reason =
      'The connection of the system "Untested" was never tested: the agent has none of its tools.';
    expect((await ofVersion()).body).toMatchObject({ ready: false, nodes: [{ ready: false, reason }] });
    const { buildId, warnings } = await built();
    expect(warnings.map(({ code }) => code)).toEqual(['AGENT_SYSTEM_NEVER_TESTED']);
    expect((await ofBuild(buildId)).body).toMatchObject({ ready: false, nodes: [{ ready: false, reason }] });

    await insertTools(app, untested.id, [{ name: 'two' }]);
    await app.dataSource
      .getRepository(SystemEntity)
      .update({ id: untested.id }, { toolsSynchronisedAt: new Date() });
    expect((await ofVersion()).body.ready).toBe(true);
    expect((await ofBuild(buildId)).body).toMatchObject({
      ready: false,
      nodes: [
        {
          reason: 'The build has none of the tools of the system "Untested": make another build.',
          systems: [{ state: 'READY' }, { state: 'TOOLS_NOT_IN_BUILD', tools: [] }],
        },
      ],
    });
    const again = (await build(app, place)).body;
    expect(again.warnings).toEqual([]);
    expect((await ofBuild(again.buildId)).body.ready).toBe(true);
  });
});

describe('GET /resource/app/{appId}/build/{buildId}/agent-preflight', () => {
  it('uses the tools of the build with their current flags', async () => {
    const system = await createdSystem(app, place, { resourceName: 'Stock' });
    await insertTools(app, system.id, [{ name: 'one' }, { name: 'off', enabled: false }, { name: 'two' }]);
    await delivered([referenceTo(system)]);
    const { buildId, warnings } = await built();
    expect(warnings).toEqual([]);
    await app.dataSource
      .getRepository(ToolEntity)
      .update({ systemId: system.id, name: 'two' }, { enabled: false });
    const { status, body } = await ofBuild(buildId);
    expect(status).toBe(200);
    expect(body.ready).toBe(true);
    expect(statesOf(body)).toEqual([
      ['one', 'READY'],
      ['off', 'DISABLED_IN_BUILD'],
      ['two', 'DISABLED'],
    ]);
    const reasonOf = async (name: string) =>
      (await ofBuild(buildId)).body.nodes[0]?.systems[0]?.tools.find((tool) => tool.name === name)?.reason;
    expect(await reasonOf('off')).toBe(
      'It was disabled when the build was made, and is disabled now: enable it, then make another build.',
    );
    await app.dataSource
      .getRepository(ToolEntity)
      .update({ systemId: system.id, name: 'off' }, { enabled: true });
    expect(await reasonOf('off')).toBe('It was disabled when the build was made; make another build.');
  });

  it('answers 404 for a build that the application does not have', async () => {
    expect((await ofBuild('none')).status).toBe(404);
  });
});

describe('warnings of a new build', () => {
  it('report agents without a usable tool', async () => {
    const [untested, off] = [
      await createdSystem(app, place, { resourceName: 'Untested' }),
      await createdSystem(app, place, { resourceName: 'Off' }),
    ];
    await insertTools(app, off.id, [{ name: 'one', enabled: false }]);
    await delivered([referenceTo(untested), referenceTo(off)]);
    const { warnings } = await built();
    expect(warnings.map(({ severity, code, file, element }) => [severity, code, file, element])).toEqual([
      ['warning', 'AGENT_SYSTEM_NEVER_TESTED', 'workflows/flow.json', 'agent'],
      ['warning', 'AGENT_WITHOUT_TOOLS', 'workflows/flow.json', 'agent'],
    ]);
  });
});

describe('warnings of a commit and of a build', () => {
  it('name every MCP system that was never tested, once, and say what to do', async () => {
    const used = await createdSystem(app, place, { resourceName: 'Used' });
    const tested = await createdSystem(app, place, { resourceName: 'Tested' });
    await createdSystem(app, place, { resourceName: 'Unused' });
    await insertTools(app, tested.id, [{ name: 'one' }]);
    await delivered([referenceTo(used), referenceTo(tested)]);
    const path = `/appmanager/api/runtime-internal/app/${place.appId}/app-version/${place.versionId}/rt/system/integrationengine/api/systems/test-mcp-connection`;
    const expected = (build: string) =>
      [
        ['AGENT_SYSTEM_NEVER_TESTED', 'workflows/flow.json', 'agent', 'Used'],
        ['SYSTEM_NEVER_TESTED', '', null, 'Unused'],
      ].map(([code, file, element, name]) => ({
        severity: 'warning',
        code,
        file,
        element,
        message: `The connection of the system "${name}" was never tested, so a build has none of its tools. Test its connection (PATCH ${path}), then make ${build} build. The command "svc deliver" does both with --test-connections, --commit and --build.`,
      }));
    const committed = await commit(app, place);
    expect([committed.status, committed.body['warnings']]).toEqual([200, expected('a')]);
    expect((await build(app, place)).body.warnings).toEqual(expected('another'));
  });

  it('name the application of a library whose system was never tested', async () => {
    const library = newPlace();
    const system = await createdSystem(app, library, { resourceName: 'Shared' });
    await store(app, library, packageDocument(library.appId));
    await commit(app, library);
    const { buildId } = (await build(app, library)).body;
    await delivered([referenceTo(system, library)], [{ appId: library.appId, buildId }]);
    const { warnings } = await built();
    expect(warnings[0]).toMatchObject({ code: 'AGENT_SYSTEM_NEVER_TESTED' });
    expect(warnings[0]?.message).toContain(`in the application "${library.appId}"`);
  });
});

describe('an agent with more ready tools than it may have', () => {
  it('is not ready, and a new build returns a warning', async () => {
    const reason = 'The agent has 4 ready tools, but at most 3 are allowed, so every run of the node fails.';
    const system = await createdSystem(app, place, { resourceName: 'Stock' });
    await insertTools(
      app,
      system.id,
      ['one', 'two', 'three', 'four'].map((name) => ({ name })),
    );
    await delivered([referenceTo(system)]);
    expect((await ofVersion()).body).toMatchObject({ ready: false, nodes: [{ ready: false, reason }] });
    const { buildId, warnings } = await built();
    expect(warnings).toMatchObject([{ severity: 'warning', code: 'AGENT_TOO_MANY_TOOLS', message: reason }]);
    expect((await ofBuild(buildId)).body).toMatchObject({ ready: false, nodes: [{ ready: false, reason }] });
    await app.dataSource
      .getRepository(ToolEntity)
      .update({ systemId: system.id, name: 'two' }, { enabled: false });
    expect((await ofBuild(buildId)).body).toMatchObject({ ready: true, nodes: [{ reason: null }] });
  });
});

describe('the nodes that switching a tool affects', () => {
  it('are those of the version, of its builds, and of builds that use them as a library', async () => {
    const system = await createdSystem(app, place, { resourceName: 'Stock' });
    const [toolId = ''] = await insertTools(app, system.id, [{ name: 'one' }]);
    await delivered([referenceTo(system)]);
    const path = toolPath(
      { resourceId: system.resourceId, systemId: system.id, toolId },
      place.appId,
      place.versionId,
    );
    const switched = async (enabled: boolean, request: { token?: string } = {}) =>
      (await app.request<{ affectedNodes: unknown[] }>('PATCH', path, { body: { enabled }, ...request }))
        .body;
    const own = {
      appId: place.appId,
      appVersionId: place.versionId,
      workflow: 'flow',
      nodeId: 'agent',
      nodeName: 'Ask',
    };
    expect(await switched(false)).toMatchObject({
      message: 'Tool disabled.',
      affectedNodes: [{ ...own, buildId: null }],
    });
    expect((await switched(true)).affectedNodes).toHaveLength(1);

    const { buildId } = await built();
    const user = newPlace();
    const workflows = [workflowOf('theirs', [agentNode({}, { mcpServers: [referenceTo(system)] }) as never])];
    const libraries = [{ appId: place.appId, buildId }];
    await store(app, user, packageDocument(user.appId, { package: { workflows }, libraries }));
    await commit(app, user);
    const theirs = (await build(app, user)).body.buildId;
    expect((await switched(false)).affectedNodes).toEqual([
      { ...own, buildId: null },
      { ...own, buildId },
      { ...own, appId: user.appId, appVersionId: user.versionId, buildId: theirs, workflow: 'theirs' },
    ]);
    const token = await app.tokenWith({ scope: 'openid', roles: [`manage@${place.appId}`] });
    expect((await switched(true, { token })).affectedNodes).toEqual([
      { ...own, buildId: null },
      { ...own, buildId },
    ]);
  });
});
