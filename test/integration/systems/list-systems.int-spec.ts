import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemType } from '../../../src/systems/model/system.types.js';
import { TestApp } from '../../support/app.js';
import { listPath, serviceAccount } from '../../support/factories.js';
import {
  commitVersion,
  createdSystem,
  insertDependency,
  insertSystem,
  insertSystems,
  insertTools,
  newPlace,
  systemRow,
  type Place,
} from './rows.js';

type Item = Record<string, unknown> & { name: string };

describe('GET /resource/app/{appId}/app-version/{versionId}/rt/system/include-dep-res/integration/api/systems/all/info', () => {
  let app: TestApp;
  let place: Place;

  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const list = (query = '', { appId, versionId } = place) =>
    app.request<{ systems: Item[]; details?: string }>('GET', `${listPath(appId, versionId)}${query}`);
  const names = async (query = '') => (await list(query)).body.systems.map(({ name }) => name);
  const delivered = (name: string, type = SystemType.Rest, at = place) =>
    insertSystem(app, at, { resourceName: name, type });

  it('returns a summary of all systems of all types', async () => {
    const mcp = await createdSystem(app, place, {
      resourceName: 'B',
      payload: { name: 'Stock 📦', description: 'Levels', authorization: serviceAccount() },
    });
    const rest = await delivered('a');
    const database = await delivered('C', SystemType.NoSqlDb);
    await insertTools(app, mcp.id, [{ name: 'one' }, { name: 'two' }]);

    const { status, body, text } = await list();

    expect(status).toBe(200);
    const common = { appId: place.appId, appVersionId: 'v1' };
    const idsOf = ({ id, resourceId, resourceDefinitionId }: typeof rest | typeof mcp) => ({
      id,
      resourceId,
      resourceDefinitionId,
    });
    expect(body).toEqual({
      systems: [
        { ...idsOf(rest), ...common, type: 'REST', name: 'a', description: '' },
        { ...idsOf(mcp), ...common, type: 'MCP', name: 'Stock 📦', description: 'Levels' },
        { ...idsOf(database), ...common, type: 'NOSQL_DB', name: 'C', description: '' },
      ],
    });
    expect(text).not.toContain('sso.example.com');
  });

  it.each(['v2', 'V1'])('returns an empty list for the unknown version %s', async (versionId) => {
    await createdSystem(app, place);
    const { status, body } = await list('', { ...place, versionId });
    expect(status).toBe(200);
    expect(body).toEqual({ systems: [] });
  });

  it('returns an empty list for an unknown application', async () => {
    expect((await list()).body).toEqual({ systems: [] });
    expect((await list('?includeManifestInfo=true&depTypes=LIB')).body).toEqual({ systems: [] });
  });

  it('omits systems of other versions and applications', async () => {
    await delivered('mine');
    await delivered('other version', SystemType.Rest, { ...place, versionId: 'v2' });
    await delivered('other application', SystemType.Rest, newPlace());
    expect(await names()).toEqual(['mine']);
  });

  it('returns two hundred systems in one response', async () => {
    const sorted = Array.from({ length: 200 }, (_none, index) => `s${String(index).padStart(3, '0')}`);
    await insertSystems(
      app,
      place,
      sorted.toReversed().map((resourceName) => ({ resourceName })),
    );
    expect(await names()).toEqual(sorted);
  });

  describe('includeManifestInfo', () => {
    it.each(['', '?includeManifestInfo=false'])('adds nothing with "%s"', async (query) => {
      await delivered('one');
      expect((await list(query)).body.systems[0]).not.toHaveProperty('manifestInfo');
    });

    it('adds resource name, type, state and times of a draft', async () => {
      const { id } = await createdSystem(app, place, { resourceName: 'Stock_[1].(a)-B' });
      const { body } = await list('?includeManifestInfo=true');
      expect(body.systems[0]?.['manifestInfo']).toEqual({
        resourceName: 'Stock_[1].(a)-B',
        resourceType: 'MCP',
        status: 'DRAFT',
        lastChangeTime: (await systemRow(app, id))?.modifiedAt.toISOString(),
        lastCommittedTime: null,
      });
    });

    it('adds the time when a version was committed', async () => {
      await delivered('one', SystemType.NoSqlDb);
      await commitVersion(app, place);
      const { body } = await list('?includeManifestInfo=true');
      expect(body.systems[0]?.['manifestInfo']).toEqual({
        resourceName: 'one',
        resourceType: 'NOSQL_DB',
        status: 'COMMITTED',
        lastChangeTime: '2026-01-31T10:20:30.123Z',
        lastCommittedTime: '2026-02-28T01:02:03.004Z',
      });
    });

    it('treats a version without a row as a draft', async () => {
      await delivered('one');
      const { body } = await list('?includeManifestInfo=true');
      expect(body.systems[0]?.['manifestInfo']).toMatchObject({ status: 'DRAFT', lastCommittedTime: null });
    });
  });

  describe('depTypes', () => {
    let library: Place;

    beforeEach(async () => {
      // Always sorts after the application itself.
      library = { appId: `${place.appId}-library`, versionId: 'v1' };
      await delivered('mine');
      await delivered('library', SystemType.Mcp, library);
      await insertDependency(app, place, library);
    });

    it('adds the systems of libraries with their own application and version', async () => {
      const { body } = await list('?depTypes=LIB');
      expect(body.systems.map(({ name, appId, appVersionId }) => [name, appId, appVersionId])).toEqual([
        ['mine', place.appId, 'v1'],
        ['library', library.appId, 'v1'],
      ]);
    });

    it.each(['?depTypes=', '?depTypes=lib', '?depTypes=APP', '?depTypes=LIBRARY,X', '?depTypes=,,', ''])(
      'adds nothing with "%s"',
      async (query) => {
        expect(await names(query)).toEqual(['mine']);
      },
    );

    it.each(['?depTypes=APP,LIB', '?depTypes=LIB,LIB', '?depTypes=%20LIB%20,'])(
      'adds libraries once with "%s"',
      async (query) => {
        expect(await names(query)).toEqual(['mine', 'library']);
      },
    );

    it('adds no libraries of libraries, no other versions of libraries, and no dependents', async () => {
      const deeper = newPlace();
      await delivered('deeper', SystemType.Rest, deeper);
      await delivered('other version', SystemType.Rest, { ...library, versionId: 'v2' });
      await insertDependency(app, library, deeper);
      const dependant = newPlace();
      await delivered('dependant', SystemType.Rest, dependant);
      await insertDependency(app, dependant, place);

      expect(await names('?depTypes=LIB')).toEqual(['mine', 'library']);
    });

    it('ignores dependencies of an unknown type', async () => {
      const other = newPlace();
      await delivered('other', SystemType.Rest, other);
      await insertDependency(app, place, other, 'PLUGIN');
      expect(await names('?depTypes=LIB,PLUGIN')).toEqual(['mine', 'library']);
    });

    it('lists each system once when versions depend on each other or on themselves', async () => {
      await insertDependency(app, library, place);
      await insertDependency(app, place, place);
      expect(await names('?depTypes=LIB')).toEqual(['mine', 'library']);
    });

    it('lists the libraries of a version without systems', async () => {
      const empty = { ...place, versionId: 'v9' };
      await insertDependency(app, empty, library);
      const { body } = await list('?depTypes=LIB', empty);
      expect(body.systems.map(({ name }) => name)).toEqual(['library']);
    });

    it('adds the manifest of the version of each library', async () => {
      await commitVersion(app, library);
      const { body } = await list('?depTypes=LIB&includeManifestInfo=true');
      expect(
        body.systems.map(({ manifestInfo }) => (manifestInfo as Record<string, unknown>)['status']),
      ).toEqual(['DRAFT', 'COMMITTED']);
    });
  });

  it.each(['page', '__proto__', 'constructor[a]', ''])(
    'rejects the unknown query parameter "%s"',
    async (name) => {
      const { status, body } = await list(`?${name}=x`);
      expect([status, body.details]).toEqual([
        400,
        `${name}: is not a known query parameter. Known: depTypes, includeManifestInfo`,
      ]);
    },
  );

  it.each([
    ['includeManifestInfo', '?includeManifestInfo=1', 'must be true or false'],
    ['includeManifestInfo', '?includeManifestInfo=TRUE', 'must be true or false'],
    ['includeManifestInfo', '?includeManifestInfo=', 'must be true or false'],
    ['includeManifestInfo', '?includeManifestInfo=yes', 'must be true or false'],
    ['includeManifestInfo', '?includeManifestInfo=true&includeManifestInfo=false', 'must be given once'],
    ['depTypes', '?depTypes=LIB&depTypes=LIB', 'must be given once'],
    ['depTypes', `?depTypes=${'L'.repeat(256)}`, 'must have at most 255 characters'],
  ])('answers 400 with the parameter name %s for the query %s', async (field, query, rule) => {
    const { status, body } = await list(query);
    expect(status).toBe(400);
    expect(body.details).toMatch(new RegExp(`^${field}: ${rule}`));
  });

  it.each([
    ['appId', '%20', 'v1'],
    ['versionId', 'app', 'v'.repeat(65)],
  ])('answers 400 for a malformed %s', async (field, appId, versionId) => {
    const { status, body } = await list('', { appId, versionId });
    expect(status).toBe(400);
    expect(body.details).toContain(`${field}: `);
  });

  it('checks the token, then the permission, then the query', async () => {
    const path = `${listPath(place.appId)}?includeManifestInfo=1`;
    expect((await app.request('GET', path, { token: null })).status).toBe(401);
    const { status, body } = await app.request('GET', path, {
      token: await app.tokenWith({ scope: 'openid' }),
    });
    expect(status).toBe(403);
    expect(body['message']).toBe('Insufficient permissions to access Integration Management');
  });
});
