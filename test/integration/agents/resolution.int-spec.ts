import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemResolutionService } from '../../../src/runtime/calls/agents/resolution/system-resolution.service.js';
import { ToolEntity } from '../../../src/systems/tools/storage/tool.entity.js';
import { TestApp } from '../../support/app.js';
import { packageDocument, publish } from '../../support/runtime/publish.js';
import { build, commit, store } from '../builds/rows.js';
import { createdSystem, insertTools, newPlace, type Place, type SystemBody } from '../systems/rows.js';

describe('the systems that an agent of a build may use', () => {
  let app: TestApp;
  let place: Place;
  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const resolve = (buildId: string, ...references: object[]) =>
    app.nest.get(SystemResolutionService).resolve(buildId, references);
  const built = async (...libraries: { appId: string; buildId: string }[]): Promise<string> => {
    await store(app, place, packageDocument(place.appId, libraries.length === 0 ? {} : { libraries }));
    expect((await commit(app, place)).status).toBe(200);
    return (await build(app, place)).body.buildId;
  };
  const referenceTo = ({ resourceDefinitionId }: SystemBody, { appId } = place) => ({
    resourceDefinitionId,
    appId,
  });

  it('offers the tools of the build in their order, and says why the others are not offered', async () => {
    const system = await createdSystem(app, place, { resourceName: 'Stock' });
    const ids = await insertTools(app, system.id, [
      { name: 'ready', description: 'Counts', inputSchema: { type: 'object', properties: { a: {} } } },
      { name: 'off', enabled: false },
      { name: 'switched' },
      { name: 'changed' },
      { name: 'gone' },
    ]);
    const buildId = await built();
    const tools = app.dataSource.getRepository(ToolEntity);
    await tools.update({ systemId: system.id, name: 'switched' }, { enabled: false });
    await tools.update({ systemId: system.id, name: 'changed' }, { definitionHash: 'f'.repeat(64) });
    await tools.update({ systemId: system.id, name: 'gone' }, { present: false });

    const [found, ...others] = await resolve(buildId, referenceTo(system), referenceTo(system));
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      state: 'READY',
      systemId: system.id,
      appId: place.appId,
      resourceDefinitionId: system.resourceDefinitionId,
      resourceName: 'Stock',
    });
    expect(found?.tools.map(({ name, state }) => [name, state])).toEqual([
      ['ready', 'READY'],
      ['off', 'DISABLED_IN_BUILD'],
      ['switched', 'DISABLED'],
      ['changed', 'CHANGED'],
      ['gone', 'GONE'],
    ]);
    expect(found?.tools[0]).toMatchObject({
      toolId: ids[0],
      description: 'Counts',
      inputSchema: { type: 'object', properties: { a: {} } },
      annotations: null,
    });
  });

  it('returns the current state of a tool on every call', async () => {
    const system = await createdSystem(app, place);
    await insertTools(app, system.id, [{ name: 'one' }]);
    const [found] = await resolve(await built(), referenceTo(system));
    const tool = found?.tools[0];
    expect(tool).toBeDefined();
    const now = () => tool && app.nest.get(SystemResolutionService).stateNow(tool);
    expect(await now()).toBe('READY');
    await app.dataSource.getRepository(ToolEntity).update({ systemId: system.id }, { enabled: false });
    expect(await now()).toBe('DISABLED');
    await app.dataSource.getRepository(ToolEntity).delete({ systemId: system.id });
    expect(await now()).toBe('GONE');
  });

  it('distinguishes a missing system from one that was never tested', async () => {
    const system = await createdSystem(app, place, { resourceName: 'Untested' });
    const buildId = await built();
    const found = await resolve(
      buildId,
      { resourceName: 'untested' },
      { resourceDefinitionId: 'none', appId: place.appId },
      { ...referenceTo(system), appId: 'other' },
    );
    expect(found).toMatchObject([
      { state: 'NEVER_TESTED', systemId: system.id, tools: [] },
      { state: 'MISSING', systemId: null, resourceDefinitionId: 'none', appId: place.appId, tools: [] },
      { state: 'MISSING', systemId: null, appId: 'other', tools: [] },
    ]);
  });

  it('finds the system of a library through the build of the library', async () => {
    const library = newPlace();
    const system = await createdSystem(app, library, { resourceName: 'Shared' });
    await insertTools(app, system.id, [{ name: 'one' }]);
    const { buildId: libraryBuild } = await publish(app, library);
    const buildId = await built({ appId: library.appId, buildId: libraryBuild });
    expect(await resolve(buildId, referenceTo(system, library))).toMatchObject([
      { state: 'READY', systemId: system.id, appId: library.appId, tools: [{ name: 'one', state: 'READY' }] },
    ]);
    expect(await resolve(buildId, referenceTo(system))).toMatchObject([{ state: 'MISSING' }]);
  });

  it('rejects an unknown build', async () => {
    await expect(resolve('none', {})).rejects.toThrow('Build not found');
  });
});
