import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AppVersionEntity } from '../../../src/apps/app-version.entity.js';
import { TestApp } from '../../support/app.js';
import { createPath, createSystemBody, systemPath } from '../../support/factories.js';
import { userTaskProcess } from '../../support/runtime/process-files.js';
import { deliveryPath, packageDocument } from '../../support/runtime/publish.js';
import { auditRows, createdSystem, newPlace, type Place } from '../systems/rows.js';
import { build, commit, emptyWorkflow, store, systemRows } from './rows.js';

describe('POST /resource/app/{appId}/app-version/{versionId}/commit', () => {
  let app: TestApp;
  let place: Place;
  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const deliver = (rest: Record<string, unknown> = {}) =>
    store(app, place, packageDocument(place.appId, { bpmn: userTaskProcess(), package: rest }));
  const versionRow = () =>
    app.dataSource
      .getRepository(AppVersionEntity)
      .findOneBy({ appId: place.appId, appVersionId: place.versionId });

  it('makes the version read-only', async () => {
    await deliver();
    const { status, body } = await commit(app, place, { message: 'Release 1.4' });

    expect(status).toBe(200);
    const row = await versionRow();
    expect(row?.state).toBe('COMMITTED');
    expect(body).toEqual({
      appId: place.appId,
      appVersionId: place.versionId,
      status: 'COMMITTED',
      committedDate: row?.committedAt?.toISOString(),
      warnings: [],
    });
    const write = await app.request('PATCH', createPath(place.appId, place.versionId), {
      body: createSystemBody(),
    });
    expect(write.status).toBe(409);
    expect((await auditRows(app, place)).at(1)).toMatchObject({
      action: 'version.commit',
      outcome: 'ok',
      details: { message: 'Release 1.4' },
    });
  });

  it.each([
    ['no body', undefined],
    ['an empty body', {}],
    ['null', { message: null }],
    ['the longest message', { message: '😀'.repeat(50) }],
  ])('accepts %s', async (_what, body) => {
    await deliver();
    expect((await commit(app, place, body)).status).toBe(200);
  });

  it('commits only the package that If-Match names', async () => {
    const { checksum } = (await deliver()).body;
    const path = `${deliveryPath(place.appId, place.versionId)}/commit`;
    const committed = (tag: string) => app.request('POST', path, { headers: { 'If-Match': tag } });
    expect((await committed(checksum)).status).toBe(400);
    await deliver({ workflows: [emptyWorkflow('later')] });
    expect(await committed(`"${checksum}"`)).toMatchObject({
      status: 412,
      body: { message: 'It was changed meanwhile: read it again.' },
    });
    expect((await versionRow())?.state).toBe('DRAFT');
    await deliver();
    expect((await committed(`W/"${checksum}"`)).status).toBe(200);
  });

  it('commits a version that holds only systems, which can be built', async () => {
    await createdSystem(app, place, { resourceName: 'by-hand' });
    expect((await commit(app, place)).status).toBe(200);
    const { status, body } = await build(app, place);
    expect(status).toBe(201);
    expect(body.resources).toMatchObject([{ resourceType: 'MCP', name: 'by-hand' }]);
  });

  it.each([
    ['a message that is too long', { message: 'x'.repeat(51) }, 'message'],
    ['an empty message', { message: '' }, 'message'],
    ['a message that is no text', { message: 7 }, 'message'],
    ['an unknown field', { branch: 'main' }, 'branch'],
  ])('answers 400 to %s', async (_what, body, field) => {
    await deliver();
    const answer = await commit(app, place, body);
    expect(answer.status).toBe(400);
    expect(answer.body['details']).toContain(field);
    expect((await versionRow())?.state).toBe('DRAFT');
  });

  it('answers 404 when nothing is stored, and creates nothing', async () => {
    const { status, body } = await commit(app, place);
    expect(status).toBe(404);
    expect(body['message']).toBe('Application version not found.');
    expect(await versionRow()).toBeNull();
    expect(await auditRows(app, place)).toEqual([]);
  });

  it('answers 409 the second time', async () => {
    await deliver();
    await commit(app, place);
    const before = await versionRow();
    expect((await commit(app, place)).status).toBe(409);
    expect(await versionRow()).toEqual(before);
  });

  it('answers 409 when a system of the package was deleted, until the package is stored again', async () => {
    const systems = [
      { resourceName: 'Inventory', type: 'MCP', name: 'I', baseUrl: 'https://mcp.example.com' },
    ];
    await deliver({ systems });
    const [row] = await systemRows(app, place);
    await app.request('DELETE', systemPath(row?.resourceId ?? '', place.appId, place.versionId));

    const refused = await commit(app, place);
    expect(refused.status).toBe(409);
    expect(refused.body['details']).toBe('Inventory');
    expect((await versionRow())?.state).toBe('DRAFT');
    expect((await deliver({ systems })).body.systems.added).toEqual(['Inventory']);
    expect((await commit(app, place)).status).toBe(200);
  });
});
