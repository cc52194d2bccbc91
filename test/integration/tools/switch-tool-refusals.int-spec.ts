import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SystemType } from '../../../src/systems/model/system.types.js';
import type { ToolEntity } from '../../../src/systems/tools/storage/tool.entity.js';
import { TestApp } from '../../support/app.js';
import { toolPath } from '../../support/factories.js';
import {
  createdSystem,
  insertSystem,
  insertTools,
  newPlace,
  systemRow,
  toolRows,
  type Place,
  type SystemBody,
} from '../systems/rows.js';

const SYSTEM_NOT_FOUND = { error: 'Not Found', message: 'System not found.', status: 404 };
const TOOL_NOT_FOUND = { error: 'Not Found', message: 'Tool not found.', status: 404 };

describe('switching a tool', () => {
  let app: TestApp;
  let place: Place;
  let system: SystemBody;
  let ids: string[];
  let rows: ToolEntity[];
  let row: Awaited<ReturnType<typeof systemRow>>;

  beforeAll(async () => {
    app = await TestApp.shared({ 'httpLimits.bodyBytes': '4096' });
    place = newPlace();
    system = await createdSystem(app, place);
    ids = await insertTools(app, system.id, [{ name: 'one' }, { name: 'gone', present: false }]);
    rows = await toolRows(app, system.id);
    row = await systemRow(app, system.id);
  });
  afterAll(async () => {
    expect(await toolRows(app, system.id)).toEqual(rows);
    expect(await systemRow(app, system.id)).toEqual(row);
    await app.close();
  });

  const path = (
    { resourceId = system.resourceId, systemId = system.id, toolId = ids[0]! } = {},
    { appId, versionId } = place,
  ) => toolPath({ resourceId, systemId, toolId }, appId, versionId);
  const disable = (at = path()) => app.request('PATCH', at, { body: { enabled: false } });

  it('answers 401 without a token', async () => {
    const { status, body, headers } = await app.request('PATCH', path(), {
      token: null,
      body: { enabled: false },
    });
    expect(status).toBe(401);
    expect(body).toMatchObject({ error: 'Unauthorized', status: 401 });
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  it('answers 403 with the message of the contract without the permission', async () => {
    const { status, body } = await app.request('PATCH', path(), {
      token: await app.tokenWith({ scope: 'openid' }),
      body: { enabled: false },
    });
    expect(status).toBe(403);
    expect(body).toEqual({
      error: 'Forbidden',
      message: 'Insufficient permissions to access Integration Management',
      status: 403,
    });
  });

  it.each([
    [undefined],
    [null],
    ['true'],
    ['false'],
    [''],
    [0],
    [1],
    [[]],
    [[false]],
    [{}],
    [{ value: false }],
  ])('answers 400 if enabled is %j', async (enabled) => {
    const { status, body } = await app.request('PATCH', path(), { body: { enabled } });
    expect(status).toBe(400);
    expect(body).toEqual({
      error: 'Bad Request',
      message: 'Request validation failed.',
      status: 400,
      details: 'enabled: must be true or false',
    });
  });

  it.each([
    ['enable', { enabled: false, enable: false }],
    ['Enabled', { enabled: false, Enabled: true }],
    ['tool', { enabled: false, tool: {} }],
  ])('answers 400 with the field name for the unknown field %s', async (field, request) => {
    const { status, body } = await app.request('PATCH', path(), { body: request });
    expect(status).toBe(400);
    expect(body['details']).toBe(`${field}: is not a known field`);
  });

  it.each([
    ['no body', {}],
    ['null', { body: null }],
    ['a list', { body: [{ enabled: false }] }],
    ['a bare flag', { body: false }],
    ['broken JSON', { rawBody: '{"enabled":false' }],
    [
      'a form',
      { rawBody: 'enabled=false', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ],
    ['too large a body', { rawBody: `{"enabled":false,"x":"${'x'.repeat(5_000)}"}` }],
  ])('answers 400 for %s', async (_case, request) => {
    const { status, body } = await app.request('PATCH', path(), request);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: 'Bad Request', message: expect.any(String), status: 400 });
  });

  it.each([
    ['appId', () => path({}, { appId: 'a%20b', versionId: 'v1' })],
    ['versionId', () => path({}, { ...place, versionId: 'v'.repeat(65) })],
    ['systemResourceId', () => path({ resourceId: '%2A' })],
    ['systemId', () => path({ systemId: 's'.repeat(65) })],
    ['systemId', () => path({ systemId: '%C3%A4' })],
    ['toolId', () => path({ toolId: 't'.repeat(65) })],
    ['toolId', () => path({ toolId: "x'--" })],
  ])('answers 400 for a malformed %s', async (field, at) => {
    const { status, body } = await disable(at());
    expect(status).toBe(400);
    expect(body['details']).toBe(`${field}: must be 1 to 64 letters, digits, ".", "_" or "-"`);
  });

  it.each([
    ['a tool that the server no longer lists', () => ({ toolId: ids[1]! }), TOOL_NOT_FOUND],
    ['the name of a tool instead of its id', () => ({ toolId: 'one' }), TOOL_NOT_FOUND],
    ['an unknown system id', () => ({ systemId: 'unknown' }), TOOL_NOT_FOUND],
    ['the resource id as the system id', () => ({ systemId: system.resourceId }), TOOL_NOT_FOUND],
    ['the system id as the resource id', () => ({ resourceId: system.id }), SYSTEM_NOT_FOUND],
    ['the definition id', () => ({ resourceId: system.resourceDefinitionId }), SYSTEM_NOT_FOUND],
  ])('answers 404 for %s', async (_case, change, answer) => {
    const { status, body } = await disable(path(change()));
    expect(status).toBe(404);
    expect(body).toEqual(answer);
  });

  it.each([SystemType.Rest, SystemType.NoSqlDb])('answers 404 in a system of type %s', async (type) => {
    const { id, resourceId } = await insertSystem(app, place, { type });
    const [toolId] = await insertTools(app, id, [{ name: 'one' }]);
    const { status, body } = await disable(path({ resourceId, systemId: id, toolId: toolId! }));
    expect(status).toBe(404);
    expect(body).toEqual(SYSTEM_NOT_FOUND);
    expect((await toolRows(app, id))[0]?.enabled).toBe(true);
  });
});
