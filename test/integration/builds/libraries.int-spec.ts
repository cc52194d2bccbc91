import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BuildDefinitionsService } from '../../../src/delivery/builds/contents/build-definitions.service.js';
import { TestApp } from '../../support/app.js';
import { listPath, uniqueName } from '../../support/factories.js';
import { userTaskProcess } from '../../support/runtime/process-files.js';
import {
  allowLibraries,
  appPath,
  packageDocument,
  publish,
  type Published,
} from '../../support/runtime/publish.js';
import { newPlace } from '../systems/rows.js';
import { build, commit, packageRow, store, type Manifest, type Problem } from './rows.js';

const REST = { resourceName: 'Scoring', type: 'REST', name: 'Scores', baseUrl: 'https://scores.example.com' };

const ref = ({ appId, buildId }: Published) => ({ appId, buildId });

describe('library dependencies', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());

  const library = (processes: string[], libraries: Published[] = [], appId = uniqueName('lib')) =>
    publish(app, {
      appId,
      bpmn: processes.map((name) => userTaskProcess(name)),
      libraries: libraries.map(ref),
    });
  const manifest = async ({ appId, buildId }: Published) =>
    (await app.request<Manifest>('GET', `${appPath(appId)}/build/${buildId}`)).body;
  /** Asserts that a package with these libraries is refused, and returns its errors. */
  const refused = async (libraries: { appId: string; buildId: string }[], appId = newPlace().appId) => {
    const place = { appId, versionId: uniqueName('v') };
    const document = packageDocument(place.appId, { bpmn: userTaskProcess(), libraries });
    const { status, body } = await store(app, place, document);
    expect(status).toBe(400);
    expect(await packageRow(app, place)).toBeNull();
    return (body.problems ?? []).filter(({ severity }: Problem) => severity === 'error');
  };

  it('include their own libraries, each at its closest level', async () => {
    const deep = await library(['deep']);
    const middle = await library(['middle'], [deep]);
    const other = await library(['other'], [middle]);
    const top = await library(['top'], [other, deep]);

    expect((await manifest(top)).libraries).toEqual([
      ...[ref(deep), ref(other)]
        .toSorted((one, two) => (one.buildId > two.buildId ? -1 : 1))
        .map((one) => ({ ...one, level: 1 })),
      { ...ref(middle), level: 2 },
    ]);
  });

  it('are listed with the systems of the version', async () => {
    const delivered = await publish(app, { package: { systems: [REST] } });
    const place = newPlace();
    await store(app, place, packageDocument(place.appId, { libraries: [ref(delivered)] }));
    const listed = async () =>
      (
        await app.request<{ systems: { name: string; appId: string }[] }>(
          'GET',
          `${listPath(place.appId, place.versionId)}?depTypes=LIB`,
        )
      ).body.systems.map(({ name, appId }) => [name, appId]);

    expect(await listed()).toEqual([['Scores', delivered.appId]]);
    const second = await store(app, place, packageDocument(place.appId));
    expect(second.body.changed).toBe(true);
    expect(await listed()).toEqual([]);
  });

  it('keep their builds when a library gets a newer one', async () => {
    const old = await library(['shared']);
    const place = newPlace();
    await store(app, place, packageDocument(place.appId, { libraries: [ref(old)] }));
    await commit(app, place);
    await library(['shared'], [], old.appId);
    await allowLibraries(app, place.appId, [old]);

    expect((await build(app, place)).body.libraries).toEqual([{ ...ref(old), level: 1 }]);
  });

  it('are refused when there is no such build, or it is one of another application', async () => {
    const some = await library(['some']);
    for (const missing of [
      { appId: some.appId, buildId: 'unknown' },
      { appId: 'unknown', buildId: some.buildId },
    ]) {
      expect(await refused([missing])).toMatchObject([
        { code: 'LIBRARY_NOT_FOUND', file: 'application.json', element: '/libraries/0' },
      ]);
    }
  });

  it('are refused when they include two builds of one library', async () => {
    const one = await library(['shared']);
    const two = await library(['shared'], [], one.appId);
    const [withOne, withTwo] = [await library(['a'], [one]), await library(['b'], [two])];

    expect(await refused([ref(withOne), ref(withTwo)])).toMatchObject([
      { code: 'LIBRARY_TWICE', file: 'application.json', element: '/libraries/1' },
    ]);
    expect(await refused([ref(two), ref(withOne)])).toMatchObject([
      { code: 'LIBRARY_TWICE', element: '/libraries/1' },
    ]);
    expect(await refused([ref(one), ref(two)])).toMatchObject([{ element: '/libraries/1' }]);
  });

  it('may include one library twice when it is the same build', async () => {
    const shared = await library(['shared']);
    const [one, two] = [await library(['a'], [shared]), await library(['b'], [shared])];
    const top = await library(['top'], [one, two]);
    expect((await manifest(top)).libraries.map(({ level }) => level)).toEqual([1, 1, 2]);
  });

  it('are refused when they depend on the application', async () => {
    const first = await library(['own']);
    const second = await library(['other'], [first]);
    const third = await library(['third'], [second]);

    for (const target of [second, third]) {
      expect(await refused([ref(target)], first.appId)).toMatchObject([
        { code: 'LIBRARY_CYCLE', file: 'application.json', element: '/libraries/0' },
      ]);
    }
    expect(await refused([ref(first)], first.appId)).toMatchObject([{ code: 'LIBRARY_CYCLE' }]);
  });

  const service = () => app.nest.get(BuildDefinitionsService);

  describe('in the resolution of calls', () => {
    it('are found by application at any depth, and no others', async () => {
      const deep = await library(['deep']);
      const middle = await library(['middle'], [deep]);
      const top = await library(['top'], [middle]);
      const stranger = await library(['strange']);
      const from = await service().findDefinition(top.appId, top.buildId, 'top');

      expect(await service().resolveCall(from, deep.appId, 'deep')).toMatchObject({
        ...ref(deep),
        name: 'deep',
        buildStatus: 'COMMITTED',
      });
      expect(await service().resolveCall(from, null, 'top')).toBe(from);
      expect(await service().resolveCall(from, top.appId, 'top')).toBe(from);
      for (const [appId, name] of [
        [stranger.appId, 'strange'],
        [middle.appId, 'deep'],
        [top.appId, 'middle'],
        [null, 'strange'],
      ] as const) {
        await expect(service().resolveCall(from, appId, name)).rejects.toThrow(
          'Process definition not found.',
        );
      }
    });

    it('are searched in order: the build itself first, then the closest level, then the newest build', async () => {
      const deep = await library(['one', 'two', 'three', 'four']);
      const older = await library(['one', 'two', 'three'], [deep]);
      const newer = await library(['one', 'two']);
      const top = await library(['one'], [older, newer]);
      const from = await service().findDefinition(top.appId, top.buildId, 'one');
      const found = async (name: string) => (await service().resolveCall(from, null, name)).buildId;

      expect(await Promise.all(['one', 'two', 'three', 'four'].map(found))).toEqual([
        top.buildId,
        newer.buildId,
        older.buildId,
        deep.buildId,
      ]);
    });
  });
});
