import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuditEventEntity } from '../../../src/audit/storage/audit-event.entity.js';
import { SystemType } from '../../../src/systems/model/system.types.js';
import { TestApp } from '../../support/app.js';
import {
  createPath,
  createSystemBody,
  detailsPath,
  listPath,
  serviceAccount,
  systemPath,
  toolPath,
} from '../../support/factories.js';
import {
  commitVersion,
  countSystems,
  createdSystem,
  definitionRows,
  insertSystem,
  insertTools,
  newPlace,
  systemRow,
  toolRows,
  type Place,
  type SystemBody,
} from './rows.js';

const NOT_FOUND = { error: 'Not Found', message: 'System not found.', status: 404 };

describe('DELETE /resource/app/{appId}/app-version/{versionId}/rt/system/ri/{systemResourceId}/integration/api/systems', () => {
  let app: TestApp;
  let place: Place;

  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const path = (resourceId: string, { appId, versionId } = place) => systemPath(resourceId, appId, versionId);
  const remove = (resourceId: string, at = place) => app.request('DELETE', path(resourceId, at));

  it('removes the system, its secret and its tools, and returns its resource id', async () => {
    const system = await createdSystem(app, place, { payload: { authorization: serviceAccount() } });
    await insertTools(app, system.id, [{ name: 'one' }, { name: 'gone', present: false }]);
    const other = await createdSystem(app, place);
    await insertTools(app, other.id, [{ name: 'stays' }]);

    const { status, body } = await remove(system.resourceId);

    expect(status).toBe(200);
    expect(body).toEqual({ status: 200, message: 'System deleted.', resourceId: system.resourceId });
    expect(await systemRow(app, system.id)).toBeNull();
    expect(await toolRows(app, system.id)).toEqual([]);
    expect(await systemRow(app, other.id)).not.toBeNull();
    expect(await toolRows(app, other.id)).toHaveLength(1);
  });

  it('makes all operations on the system answer 404', async () => {
    const { id, resourceId } = await createdSystem(app, place);
    const [toolId = ''] = await insertTools(app, id, [{ name: 'one' }]);
    await remove(resourceId);

    const { appId, versionId } = place;
    const enable = toolPath({ resourceId, systemId: id, toolId }, appId, versionId);
    for (const response of [
      await app.request('GET', detailsPath(resourceId, appId, versionId)),
      await app.request('PATCH', path(resourceId), { body: { name: 'New' } }),
      await app.request('PATCH', enable, { body: { enabled: true } }),
      await remove(resourceId),
    ]) {
      expect(response.status).toBe(404);
      expect(response.body).toEqual(NOT_FOUND);
    }
    expect((await app.request('GET', listPath(appId, versionId))).body).toEqual({ systems: [] });
  });

  it('keeps the audit events of the system', async () => {
    const { resourceId } = await createdSystem(app, place, { resourceName: 'Short-lived' });
    await remove(resourceId);

    const events = await app.dataSource
      .getRepository(AuditEventEntity)
      .find({ where: { systemResourceId: resourceId }, order: { id: 'ASC' } });
    expect(events.map(({ action, outcome, details }) => [action, outcome, details])).toEqual([
      ['system.create', 'ok', { resourceName: 'Short-lived' }],
      ['system.delete', 'ok', { resourceName: 'Short-lived' }],
    ]);
  });

  it('makes the name available again, with the same definition id', async () => {
    const first = await createdSystem(app, place, { resourceName: 'Again' });
    await remove(first.resourceId);
    expect(await definitionRows(app, place.appId)).toHaveLength(1);

    const second = await createdSystem(app, place, { resourceName: 'AGAIN' });

    expect(second.resourceDefinitionId).toBe(first.resourceDefinitionId);
    expect(second.id).not.toBe(first.id);
    expect(second.resourceId).not.toBe(first.resourceId);
    expect(second.tools).toEqual([]);
  });

  it('keeps the system with the same name in another version', async () => {
    const first = await createdSystem(app, place, { resourceName: 'Same' });
    const second = await createdSystem(app, { ...place, versionId: 'v2' }, { resourceName: 'Same' });
    await remove(first.resourceId);
    expect(await systemRow(app, second.id)).not.toBeNull();
  });

  it('answers 409 in a committed version and removes nothing', async () => {
    const { id, resourceId } = await createdSystem(app, place);
    await insertTools(app, id, [{ name: 'one' }]);
    await commitVersion(app, place);

    const { status, body } = await remove(resourceId);

    expect(status).toBe(409);
    expect(body['message']).toBe('The application version is committed and can no longer be changed.');
    expect(await systemRow(app, id)).not.toBeNull();
    expect(await toolRows(app, id)).toHaveLength(1);
  });

  it.each([
    ['an unknown resource id', (): [string, Place] => ['unknown', place]],
    ['the id instead of the resource id', (system: SystemBody): [string, Place] => [system.id, place]],
    [
      'another version',
      (system: SystemBody): [string, Place] => [system.resourceId, { ...place, versionId: 'v2' }],
    ],
    ['another application', (system: SystemBody): [string, Place] => [system.resourceId, newPlace()]],
  ])('answers 404 for %s and removes nothing', async (_case, at) => {
    const system = await createdSystem(app, place);
    const { status, body } = await remove(...at(system));
    expect(status).toBe(404);
    expect(body).toEqual(NOT_FOUND);
    expect(await systemRow(app, system.id)).not.toBeNull();
  });

  it.each([SystemType.Rest, SystemType.NoSqlDb])('answers 404 for a system of type %s', async (type) => {
    const { id, resourceId } = await insertSystem(app, place, { type });
    expect((await remove(resourceId)).status).toBe(404);
    expect(await systemRow(app, id)).not.toBeNull();
  });

  it.each([
    ['appId', 'a%20b', 'v1', 'x'],
    ['versionId', 'a', 'v'.repeat(65), 'x'],
    ['systemResourceId', 'a', 'v1', '%2A'],
  ])('answers 400 for a malformed %s', async (field, appId, versionId, resourceId) => {
    const { status, body } = await remove(resourceId, { appId, versionId });
    expect(status).toBe(400);
    expect(body['details']).toBe(`${field}: must be 1 to 64 letters, digits, ".", "_" or "-"`);
  });

  it('checks the token, then the permission, then the path', async () => {
    const denied = await app.tokenWith({ scope: 'openid' });
    expect((await app.request('DELETE', path('%2A'), { token: null })).status).toBe(401);
    const { status, body } = await app.request('DELETE', path('%2A'), { token: denied });
    expect(status).toBe(403);
    expect(body['message']).toBe('Insufficient permissions to access Integration Management');
  });

  it('succeeds for only one of ten concurrent deletions', async () => {
    const { resourceId } = await createdSystem(app, place);
    const answers = await Promise.all(Array.from({ length: 10 }, () => remove(resourceId)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
  });

  it('leaves nothing behind when changes and a deletion race', async () => {
    const { id, resourceId } = await createdSystem(app, place, { resourceName: 'Race' });
    await insertTools(app, id, [{ name: 'one' }]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index === 10
          ? remove(resourceId)
          : app.request('PATCH', path(resourceId), { body: { name: `name-${index}` } }),
      ),
    );
    expect(answers[10]?.status).toBe(200);
    expect(answers.filter(({ status }) => status !== 200 && status !== 404)).toEqual([]);
    expect(await systemRow(app, id)).toBeNull();
    expect(await toolRows(app, id)).toEqual([]);
  });

  it('leaves at most one system with a name when creations and a deletion race', async () => {
    const { resourceId } = await createdSystem(app, place, { resourceName: 'Race' });
    const body = createSystemBody({ resourceName: 'Race' });
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => app.request('PATCH', createPath(place.appId), { body })),
      remove(resourceId),
      ...Array.from({ length: 10 }, () => app.request('PATCH', createPath(place.appId), { body })),
    ]);
    const created = answers.filter(({ status }) => status === 201).length;
    expect(created).toBeLessThanOrEqual(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(20 - created);
    expect(await countSystems(app, place)).toBe(created);
  });
});
