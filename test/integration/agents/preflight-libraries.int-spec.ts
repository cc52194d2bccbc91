import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { TestApp } from '../../support/app.js';
import {
  appPath,
  deliveryPath,
  packageDocument,
  type LibraryRef,
  workflowOf,
} from '../../support/runtime/publish.js';
import { build, commit, store, type Problem } from '../builds/rows.js';
import { agentNode } from '../builds/workflow-nodes.js';
import { createdSystem, insertTools, newPlace, type Place, type SystemBody } from '../systems/rows.js';

interface Preflight {
  ready: boolean;
  nodes: {
    reason: string | null;
    systems: { reason: string | null; tools: { reason: string | null }[] }[];
  }[];
}

/** `top` uses the library `middle`, which uses the library `deep`. Only `deep` has agents. */
let app: TestApp;
let top: Place;
let middle: Place;
let deep: Place;
let system: SystemBody;
beforeAll(async () => {
  app = await TestApp.shared();
});
afterAll(() => app.close());
beforeEach(async () => {
  [top, middle, deep] = [newPlace(), newPlace(), newPlace()];
  system = await createdSystem(app, deep, { resourceName: 'Shared' });
});

const remedy = () =>
  `The node belongs to the library "${deep.appId}". Test the connections of its version "${deep.versionId}" and enable its tools. ` +
  'If that is not enough, make another build of the library and use that build.';
const workflows = () => {
  const mcpServers = [{ resourceDefinitionId: system.resourceDefinitionId, appId: deep.appId }];
  return ['one', 'two'].map((name) => workflowOf(name, [agentNode({}, { mcpServers }) as never]));
};
async function stored(place: Place, libraries: LibraryRef[], own: object[] = []): Promise<void> {
  const answer = await store(
    app,
    place,
    packageDocument(place.appId, { package: { workflows: own }, libraries }),
  );
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
}
async function built(place: Place): Promise<{ appId: string; buildId: string; warnings: Problem[] }> {
  const { status, body } = await build(app, place);
  expect(status).toBe(201);
  return { appId: place.appId, buildId: body.buildId, warnings: body.warnings ?? [] };
}
const release = async (place: Place, libraries: LibraryRef[], own: object[] = []) => {
  await stored(place, libraries, own);
  expect((await commit(app, place)).status).toBe(200);
  return built(place);
};
const ofVersion = async ({ appId, versionId }: Place) =>
  (await app.request<Preflight>('GET', `${deliveryPath(appId, versionId)}/agent-preflight`)).body;
const ofBuild = async ({ appId, buildId }: LibraryRef) =>
  (await app.request<Preflight>('GET', `${appPath(appId)}/build/${buildId}/agent-preflight`)).body;

describe('agents of libraries', () => {
  it('are listed in the preflight of a version and of a build at every level, each with its owner', async () => {
    const shared = await release(deep, [], workflows());
    const between = await release(middle, [{ appId: deep.appId, buildId: shared.buildId }]);
    await stored(top, [{ appId: middle.appId, buildId: between.buildId }]);
    const expected = {
      ready: false,
      nodes: ['one', 'two'].map((workflow) => ({
        appId: deep.appId,
        appVersionId: deep.versionId,
        buildId: shared.buildId,
        workflow,
        ready: false,
        reason: `The agent has no ready tool, so every run of the node fails. ${remedy()}`,
        systems: [{ appId: deep.appId, resourceName: 'Shared', state: 'NEVER_TESTED' }],
      })),
    };
    expect(await ofVersion(top)).toMatchObject(expected);
    await commit(app, top);
    expect(await ofBuild(await built(top))).toMatchObject(expected);
    expect((await ofVersion(middle)).nodes).toHaveLength(2);
  });

  it('are in the warnings of a commit and of a build, which say what to do', async () => {
    const { appId, buildId } = await release(deep, [], workflows().slice(0, 1));
    await stored(top, [{ appId, buildId }]);
    const place = `In the library "${deep.appId}", workflow "one", node "agent": `;
    const expected = [
      [
        'AGENT_SYSTEM_NEVER_TESTED',
        `${place}The connection of the system "Shared" was never tested, so a build has none of its tools. Test its connection in the ` +
          `application "${deep.appId}", then make another build of that application and of this one.`,
      ],
      [
        'AGENT_WITHOUT_TOOLS',
        `${place}The agent has no ready tool, so every run of the node fails. ${remedy()}`,
      ],
    ].map(([code, message]) => ({ severity: 'warning', code, file: '', element: null, message }));
    expect((await commit(app, top)).body['warnings']).toEqual(expected);
    expect((await built(top)).warnings).toEqual(expected);
  });

  it('are ready if the build of their library has their tools', async () => {
    const untested = await release(deep, [], workflows());
    await insertTools(app, system.id, [{ name: 'echo' }, { name: 'off', enabled: false }]);
    await app.dataSource
      .getRepository(SystemEntity)
      .update({ id: system.id }, { toolsSynchronisedAt: new Date() });
    const tested = await built(deep);
    const before = await release(top, [{ appId: deep.appId, buildId: untested.buildId }]);
    const another = `another build of the library "${deep.appId}", and one of the application that names it.`;
    expect((await ofBuild(before)).nodes[0]?.systems[0]?.reason).toBe(
      `It had no tools when the build was made; make ${another}`,
    );

    const next = await release({ ...top, versionId: 'v2' }, [{ appId: deep.appId, buildId: tested.buildId }]);
    expect(next.warnings).toEqual([]);
    const preflight = await ofBuild(next);
    expect(preflight.ready).toBe(true);
    expect(preflight.nodes[0]?.systems[0]?.tools.map(({ reason }) => reason)).toEqual([
      null,
      `It was disabled when the build was made, and is disabled now: enable it, then make ${another}`,
    ]);
  });
});
