import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { BuildDefinitionsService } from '../../../src/delivery/builds/contents/build-definitions.service.js';
import { TestApp } from '../../support/app.js';
import { userTaskProcess } from '../../support/runtime/process-files.js';
import { publish } from '../../support/runtime/publish.js';
import { activate, emptyWorkflow } from './rows.js';

describe('BuildDefinitionsService', () => {
  let app: TestApp;
  let service: BuildDefinitionsService;
  beforeAll(async () => {
    app = await TestApp.start({ 'buildLimits.cacheEntries': '2' });
    service = app.nest.get(BuildDefinitionsService);
  });
  afterAll(() => app.close());
  afterEach(() => vi.restoreAllMocks());

  const threeProcesses = () =>
    publish(app, { bpmn: ['one', 'two', 'three'].map((id) => userTaskProcess(id)) });
  const spyOnQueries = () => vi.spyOn(app.dataSource.manager, 'query');

  it('queries the database only once for a definition', async () => {
    const { appId, buildId } = await threeProcesses();
    const queries = spyOnQueries();
    const first = await service.findDefinition(appId, buildId, 'one');
    expect(queries).toHaveBeenCalledTimes(1);

    expect(await service.findDefinition(appId, buildId, 'one')).toBe(first);
    expect(await service.byId(first.id)).toBe(first);
    expect(queries).toHaveBeenCalledTimes(1);
  });

  it('returns one object to concurrent callers, by name and by id', async () => {
    const { appId, buildId } = await threeProcesses();
    const { id } = await service.findDefinition(appId, buildId, 'one');
    await service.findDefinition(appId, buildId, 'two');
    await service.findDefinition(appId, buildId, 'three');
    const found = await Promise.all([
      service.findDefinition(appId, buildId, 'one'),
      service.byId(id),
      service.findDefinition(appId, buildId, 'one'),
      service.byId(id),
    ]);
    expect(new Set(found).size).toBe(1);
  });

  it('evicts the least recently used definition', async () => {
    const { appId, buildId } = await threeProcesses();
    const [one, two] = [
      await service.findDefinition(appId, buildId, 'one'),
      await service.findDefinition(appId, buildId, 'two'),
    ];
    await service.byId(one.id);
    await service.findDefinition(appId, buildId, 'three');
    const queries = spyOnQueries();

    expect(await service.findDefinition(appId, buildId, 'one')).toBe(one);
    expect(queries).not.toHaveBeenCalled();
    const again = await service.findDefinition(appId, buildId, 'two');
    expect(queries).toHaveBeenCalledTimes(1);
    expect(again).not.toBe(two);
    expect(again).toEqual(two);
  });

  it('distinguishes a build of another application from an unknown process name', async () => {
    const one = await threeProcesses();
    const two = await threeProcesses();
    await service.findDefinition(one.appId, one.buildId, 'one');

    for (const [appId, buildId, code] of [
      [one.appId, two.buildId, 'BUILD_NOT_FOUND'],
      [two.appId, one.buildId, 'BUILD_NOT_FOUND'],
      [one.appId, 'unknown', 'BUILD_NOT_FOUND'],
      ['unknown', one.buildId, 'BUILD_NOT_FOUND'],
    ] as const) {
      await expect(service.findDefinition(appId, buildId, 'one')).rejects.toMatchObject({ code });
    }
    for (const name of ['ONE', 'one ', '', 'four', '%', '__proto__']) {
      await expect(service.findDefinition(one.appId, one.buildId, name)).rejects.toMatchObject({
        code: 'PROCESS_DEFINITION_NOT_FOUND',
        message: 'Process definition not found.',
      });
    }
    await expect(service.byId(Number.MAX_SAFE_INTEGER)).rejects.toMatchObject({
      code: 'PROCESS_DEFINITION_NOT_FOUND',
    });
  });

  it('finds workflows by their exact name, and the active build', async () => {
    const { appId, buildId } = await publish(app, { package: { workflows: [emptyWorkflow('Score')] } });
    expect(await service.workflow(buildId, null, 'Score')).toMatchObject({ name: 'Score' });
    expect(await service.workflow(buildId, appId, 'Score')).toMatchObject({ name: 'Score' });
    await expect(service.workflow(buildId, 'other', 'Score')).rejects.toMatchObject({
      code: 'WORKFLOW_NOT_FOUND',
    });
    for (const name of ['score', 'Score ', '']) {
      await expect(service.workflow(buildId, null, name)).rejects.toMatchObject({
        code: 'WORKFLOW_NOT_FOUND',
      });
    }
    await expect(service.workflow(buildId, null, 'none')).rejects.toMatchObject({
      code: 'WORKFLOW_NOT_FOUND',
    });
    await expect(service.workflow('none', null, 'none')).rejects.toMatchObject({ code: 'BUILD_NOT_FOUND' });
    expect(await service.activeBuild(appId)).toBeNull();
    await activate(app, appId, buildId);
    expect(await service.activeBuild(appId)).toMatchObject({ buildId });
  });
});
