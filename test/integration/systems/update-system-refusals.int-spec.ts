import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { TestApp } from '../../support/app.js';
import { serviceAccount, systemPath } from '../../support/factories.js';
import {
  commitVersion,
  createdSystem,
  insertSystem,
  newPlace,
  systemRow,
  withField,
  type Place,
  type SystemBody,
} from './rows.js';

const CONFIGURATION = 'authorization.configuration';
const URL_RULE = 'must be an http or https URL';
const validBody = (): Record<string, unknown> => ({ name: 'New', authorization: serviceAccount() });

describe('the update operation', () => {
  let app: TestApp;
  let place: Place;
  let system: SystemBody;
  let row: SystemEntity | null;

  beforeAll(async () => {
    app = await TestApp.shared();
    place = newPlace();
    system = await createdSystem(app, place, { payload: { authorization: serviceAccount() } });
    row = await systemRow(app, system.id);
  });
  afterAll(async () => {
    expect(await systemRow(app, system.id)).toEqual(row);
    await app.close();
  });

  const path = (resourceId = system.resourceId, { appId, versionId } = place) =>
    systemPath(resourceId, appId, versionId);
  const update = (body: unknown, at = path()) => app.request('PATCH', at, { body });

  it.each([
    ['name', null, ''],
    ['name', '', 'must'],
    ['name', '  ', 'must not be blank'],
    ['name', 'n'.repeat(256), 'must have 1 to 255 characters'],
    ['name', 7, ''],
    ['description', 'd'.repeat(2_001), 'must have 0 to 2000 characters'],
    ['description', '\u0000', 'must not contain control characters'],
    ['baseUrl', null, URL_RULE],
    ['baseUrl', '', URL_RULE],
    ['baseUrl', 'ftp://mcp.example.com', URL_RULE],
    ['baseUrl', 'https://user:word@mcp.example.com', URL_RULE],
    ['baseUrl', 'https://mcp.example.com/#part', URL_RULE],
    ['authorization', null, ''],
    ['authorization', 'NO_AUTH', ''],
    ['authorization', [], ''],
    ['authorization.type', undefined, 'must be NO_AUTH, SERVICE_ACCOUNT or API_KEY'],
    ['authorization.type', 'BASIC', 'must be NO_AUTH, SERVICE_ACCOUNT or API_KEY'],
    [CONFIGURATION, null, ''],
    [CONFIGURATION, 'text', ''],
    [`${CONFIGURATION}.clientId`, null, ''],
    [`${CONFIGURATION}.clientId`, '', 'must have 1 to 255 characters'],
    [`${CONFIGURATION}.clientSecret`, '', 'must have 1 to 1024 characters'],
    [`${CONFIGURATION}.clientSecret`, null, ''],
    [`${CONFIGURATION}.clientSecret`, 's'.repeat(1_025), 'must have 1 to 1024 characters'],
    [`${CONFIGURATION}.clientSecret`, 'hush\n', 'must be printable ASCII'],
    [`${CONFIGURATION}.identityProviderUrl`, '', URL_RULE],
    [`${CONFIGURATION}.identityProviderUrl`, null, URL_RULE],
  ])('answers 400 with the field name if %s is %j', async (field, value, rule) => {
    const { status, body, text } = await update(withField(validBody(), field, value));
    expect(status).toBe(400);
    expect(body['details']).toMatch(new RegExp(`(^|; )${field.replaceAll('.', '\\.')}: `));
    expect(body['details']).toContain(rule);
    expect(text).not.toContain('battery');
    expect(text).not.toContain('hush');
  });

  it.each([
    ['resourceName', { resourceName: 'other' }],
    ['action', { action: 'UPDATE' }],
    ['type', { type: 'MCP' }],
    ['id', { id: 'x' }],
    ['payload', { payload: {} }],
    ['tools', { tools: [] }],
    ['authorization.config', { authorization: { type: 'NO_AUTH', config: {} } }],
    [`${CONFIGURATION}.realm`, { authorization: { type: 'SERVICE_ACCOUNT', configuration: { realm: 'x' } } }],
  ])('answers 400 with the field name for the unknown field %s', async (field, body) => {
    const response = await update(body);
    expect(response.status).toBe(400);
    expect(response.body['details']).toBe(`${field}: is not a known field`);
  });

  it.each([
    ['null', null],
    ['[]', []],
    ['"text"', 'text'],
    ['7', 7],
  ])('answers 400 for the body %s', async (_text, body) => {
    expect((await update(body)).status).toBe(400);
  });

  it.each([
    ['another version', () => path(undefined, { ...place, versionId: 'v2' })],
    ['another application', () => path(undefined, newPlace())],
    ['the id instead of the resource id', () => path(system.id)],
    ['an unknown resource id', () => path('unknown')],
  ])('answers 404 for %s', async (_case, at) => {
    const { status, body } = await update({ name: 'New' }, at());
    expect(status).toBe(404);
    expect(body).toEqual({ error: 'Not Found', message: 'System not found.', status: 404 });
  });

  it('answers 404 for a system of another type', async () => {
    const { resourceId } = await insertSystem(app, place);
    expect((await update({ name: 'New' }, path(resourceId))).status).toBe(404);
  });

  it.each([
    ['appId', () => path(undefined, { appId: 'a%20b', versionId: 'v1' })],
    ['versionId', () => path(undefined, { appId: 'a', versionId: 'v'.repeat(65) })],
    ['systemResourceId', () => path('%2A')],
  ])('answers 400 for a malformed %s', async (field, at) => {
    const { status, body } = await update({ name: 'New' }, at());
    expect(status).toBe(400);
    expect(body['details']).toBe(`${field}: must be 1 to 64 letters, digits, ".", "_" or "-"`);
  });

  it('checks token, permission, path, body and stored state in this order', async () => {
    const committed = newPlace();
    const { id, resourceId } = await createdSystem(app, committed);
    await commitVersion(app, committed);
    const at = path(resourceId, committed);
    const denied = await app.tokenWith({ scope: 'openid' });

    expect((await app.request('PATCH', path('%2A'), { token: null, rawBody: '{' })).status).toBe(401);
    const forbidden = await app.request('PATCH', path('%2A'), { token: denied, rawBody: '{' });
    expect(forbidden.status).toBe(403);
    expect(forbidden.body['message']).toBe('Insufficient permissions to access Integration Management');
    expect((await app.request('PATCH', path('unknown', committed), { rawBody: '{' })).status).toBe(404);
    expect((await app.request('PATCH', at, { rawBody: '{' })).status).toBe(400);
    expect((await update({ name: '' }, at)).status).toBe(400);
    const incomplete = { authorization: { type: 'SERVICE_ACCOUNT' } };
    expect((await update(incomplete, at)).status).toBe(400);
    const { status, body } = await update({ name: 'New' }, at);
    expect(status).toBe(409);
    expect(body['message']).toBe('The application version is committed and can no longer be changed.');
    expect(await systemRow(app, id)).toMatchObject({ name: 'Inventory tools', authorizationType: 'NO_AUTH' });
  });
});
