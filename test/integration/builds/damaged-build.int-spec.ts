import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  BuildDefinitionEntity,
  BuildLibraryEntity,
  BuildSystemEntity,
  BuildWorkflowEntity,
  BuildEntity,
} from '../../../src/delivery/builds/storage/build.entity.js';
import { ProcessInstanceEntity } from '../../../src/runtime/storage/process-instance.entity.js';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, ui, userTask } from '../../support/runtime/process-files.js';
import { appPath, publish, type Published, mapping, workflowOf } from '../../support/runtime/publish.js';
import { execute, executed, instancePath, start, started } from '../../support/runtime/runtime-client.js';
import { activate } from './rows.js';

const DAMAGED = /^The stored data of build "[\da-f-]+" does not match its checksum/;
const waits = processFile(
  'waits',
  `${node('startEvent', 'start')}${userTask('a')}${userTask('b')}${node('endEvent', 'end')}${flows('start>a a>b b>end')}`,
);

const SETTINGS = { JOBS_CONCURRENCY: '0', PROCESS_UI_ACTION_ACCESS: 'any-token' };

let app: TestApp;
let build: Published;
/** Replica that has not loaded anything of the build. */
let fresh: TestApp;
beforeAll(async () => {
  app = await TestApp.start(SETTINGS);
});
afterAll(() => app.close());
beforeEach(async () => {
  build = await publish(app, {
    bpmn: waits,
    package: {
      workflows: [workflowOf('double', [mapping('a', 1)])],
      systems: [
        {
          type: 'REST',
          resourceName: 'stock',
          name: 'Stock',
          description: '',
          baseUrl: 'https://stock.example',
        },
      ],
    },
  });
  fresh = await TestApp.start(SETTINGS);
});
afterEach(() => fresh.close());

const damageGraph = async (): Promise<void> => {
  const rows = app.dataSource.getRepository(BuildDefinitionEntity);
  const { id, graph } = await rows.findOneByOrFail({ buildId: build.buildId });
  await rows.update({ id }, { graph: graph.replace('"b"', '"c"') });
};
const table = <Row extends object>(entity: new () => Row) => app.dataSource.getRepository(entity);

describe('a build that does not match its checksum', () => {
  it('is neither started nor activated, and an incident says why', async () => {
    await damageGraph();
    const { status, body } = await start(fresh, build, 'waits');
    expect(status).toBe(409);
    expect(body.incident).toMatchObject({
      code: 'DEFINITION',
      message: expect.stringMatching(DAMAGED) as string,
    });
    expect(await table(ProcessInstanceEntity).findBy({ buildId: build.buildId })).toMatchObject([
      { state: 'CREATED' },
    ]);
    expect(await activate(fresh, build.appId, build.buildId)).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(DAMAGED) as string },
    });
    expect((await fresh.request('GET', `${appPath(build.appId)}/active-build`)).status).toBe(404);
  });

  it('stops running instances, which can still be read and terminated, and resume when it is restored', async () => {
    const whole = await table(BuildDefinitionEntity).findOneByOrFail({ buildId: build.buildId });
    const { uuid, token } = await started(app, build, 'waits');
    await damageGraph();
    const stopped = await execute(fresh, uuid, token.uuid, ui('a'), {});
    expect(stopped.body.incident).toMatchObject({ message: expect.stringMatching(DAMAGED) as string });
    expect((await fresh.request('GET', instancePath(uuid))).status).toBe(200);
    await table(BuildDefinitionEntity).update({ id: whole.id }, { graph: whole.graph });
    await executed(fresh, uuid, token.uuid, ui('a'), {});
    await damageGraph();
    const other = await TestApp.start(SETTINGS);
    try {
      expect((await other.request('POST', `${instancePath(uuid)}/terminate`)).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  const addLibrary = () => {
    const { buildId } = build;
    const library = { buildId, libraryAppId: 'evil', libraryBuildId: buildId, level: 1 };
    return table(BuildLibraryEntity).insert(library);
  };
  const testRun = () => {
    const runtime = `/rtm/api/runtime/app/${build.appId}/build/${build.buildId}`;
    return fresh.request('POST', `${runtime}/workflow/double/test-run`, { body: {} });
  };
  const refused = { status: 409, body: { message: expect.stringMatching(DAMAGED) as string } };

  it('is detected when a library is added after the rest was verified', async () => {
    await started(fresh, build, 'waits');
    await addLibrary();
    expect(await testRun()).toMatchObject(refused);
  });

  it.each([
    ['a workflow', () => table(BuildWorkflowEntity).update({ buildId: build.buildId }, { definition: '{}' })],
    [
      'a system',
      () => table(BuildSystemEntity).update({ buildId: build.buildId }, { baseUrl: 'https://evil.example' }),
    ],
    ['a setting', () => table(BuildEntity).update({ buildId: build.buildId }, { settings: '{"x":1}' })],
    ['a library', addLibrary],
  ])('is detected when %s was tampered with', async (_what, change) => {
    await change();
    expect(await testRun()).toMatchObject(refused);
  });
});
