import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemConnectionsService } from '../../../src/systems/lookups/system-connections.service.js';
import { AuthorizationType, SystemType } from '../../../src/systems/model/system.types.js';
import { TestApp } from '../../support/app.js';
import { serviceAccount, systemPath } from '../../support/factories.js';
import {
  auditRows,
  commitVersion,
  createdSystem,
  insertSystem,
  newPlace,
  systemRow,
  type Place,
} from './rows.js';

const SECRET = 'rotated-secret-of-a-system';

describe('PUT /resource/app/{appId}/app-version/{versionId}/rt/system/ri/{systemResourceId}/integration/api/systems/client-secret', () => {
  let app: TestApp;
  let place: Place;

  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const path = (resourceId: string, { appId, versionId } = place) =>
    `${systemPath(resourceId, appId, versionId)}/client-secret`;
  const replace = (resourceId: string, body: unknown = { clientSecret: SECRET }, at = place) =>
    app.request('PUT', path(resourceId, at), { body });
  const opened = (id: string) => app.nest.get(SystemConnectionsService, { strict: false }).byId(id);
  const withAccount = () => createdSystem(app, place, { payload: { authorization: serviceAccount() } });

  it.each(['draft', 'committed'])('replaces the secret of a system in a %s version', async (state) => {
    const system = await withAccount();
    const before = await systemRow(app, system.id);
    if (state === 'committed') {
      await commitVersion(app, place);
    }

    const { status, body, text } = await replace(system.resourceId);

    expect(status).toBe(200);
    expect(body).toEqual({ status: 200, message: 'Client secret replaced.', resourceId: system.resourceId });
    expect(text).not.toContain(SECRET);
    const after = await systemRow(app, system.id);
    expect(after?.clientSecret).not.toContain(SECRET);
    expect({ ...after, clientSecret: null, modifiedAt: null }).toEqual({
      ...before,
      clientSecret: null,
      modifiedAt: null,
    });
    expect(await opened(system.id)).toMatchObject({ credentials: { clientSecret: SECRET } });
    const events = await auditRows(app, place);
    expect(events.at(-1)).toMatchObject({
      action: 'system.update',
      outcome: 'ok',
      details: { fields: ['clientSecret'] },
    });
    expect(JSON.stringify(events)).not.toContain(SECRET);
  });

  it('sets the missing secret of a delivered REST system', async () => {
    const { id, resourceId } = await insertSystem(app, place, {
      type: SystemType.Rest,
      baseUrl: 'https://crm.example.com',
      authorizationType: AuthorizationType.ServiceAccount,
      clientId: 'crm',
      identityProviderUrl: 'https://sso.example.com/token',
    });

    expect((await replace(resourceId)).status).toBe(200);

    expect(await opened(id)).toMatchObject({
      baseUrl: 'https://crm.example.com',
      credentials: { clientId: 'crm', clientSecret: SECRET },
    });
  });

  it('answers 409 for a system without a service account and stores nothing', async () => {
    const { id, resourceId } = await createdSystem(app, place);
    const { status, body } = await replace(resourceId);
    expect({ status, message: body['message'] }).toEqual({
      status: 409,
      message: 'The system has no service account.',
    });
    expect((await systemRow(app, id))?.clientSecret).toBeNull();
  });

  it.each([
    ['an unknown system', (_resourceId: string): [string, Place] => ['unknown', place]],
    ['another version', (resourceId: string): [string, Place] => [resourceId, { ...place, versionId: 'v2' }]],
    ['another application', (resourceId: string): [string, Place] => [resourceId, newPlace()]],
  ])('answers 404 for %s, even with an invalid body', async (_case, at) => {
    const { resourceId } = await withAccount();
    const [id, elsewhere] = at(resourceId);
    expect(await replace(id, { clientSecret: '' }, elsewhere)).toMatchObject({
      status: 404,
      body: { message: 'System not found.' },
    });
  });

  it.each([
    [{}, 'clientSecret: must be a string'],
    [{ clientSecret: '' }, 'clientSecret: must have 1 to 1024 characters'],
    [{ clientSecret: null }, 'clientSecret: must be a string'],
    [{ clientSecret: 7 }, 'clientSecret: must be a string'],
    [{ clientSecret: 'with\u0007bell' }, 'clientSecret: must be printable ASCII'],
    [{ clientSecret: SECRET, name: 'x' }, 'name: is not a known field'],
  ])('answers 400 for %j and stores nothing', async (body, details) => {
    const { id, resourceId } = await withAccount();
    const before = await systemRow(app, id);
    const response = await replace(resourceId, body);
    expect({ status: response.status, details: response.body['details'] }).toEqual({ status: 400, details });
    expect(await systemRow(app, id)).toEqual(before);
  });

  it('answers 401 without a token and 403 without the permission', async () => {
    const { resourceId } = await withAccount();
    expect((await app.request('PUT', path(resourceId), { token: null })).status).toBe(401);
    const token = await app.tokenWith({ scope: 'openid' });
    expect((await app.request('PUT', path(resourceId), { token, body: {} })).status).toBe(403);
  });
});
