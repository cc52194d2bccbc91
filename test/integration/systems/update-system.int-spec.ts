import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemSecrets } from '../../../src/systems/secrets/system-secrets.js';
import { TestApp } from '../../support/app.js';
import { detailsPath, serviceAccount, systemPath } from '../../support/factories.js';
import {
  auditRows,
  createdSystem,
  insertTools,
  newPlace,
  systemRow,
  toolRows,
  type Place,
  type SystemBody,
} from './rows.js';

const SECRET = 'correct horse battery staple';
const CLIENT_SECRET = 'authorization.configuration.clientSecret';

/** Returns a change of the authorization: a service account with only these members. */
const account = (configuration: Record<string, unknown>): Record<string, unknown> => ({
  authorization: { type: 'SERVICE_ACCOUNT', configuration },
});

describe('PATCH /resource/app/{appId}/app-version/{versionId}/rt/system/ri/{systemResourceId}/integration/api/systems', () => {
  let app: TestApp;
  let place: Place;

  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const update = ({ resourceId }: SystemBody, body: unknown, token?: string) =>
    app.request<SystemBody & { message?: string; details?: string }>(
      'PATCH',
      systemPath(resourceId, place.appId, place.versionId),
      { body, ...(token === undefined ? {} : { token }) },
    );
  const details = async ({ resourceId }: SystemBody) =>
    (await app.request<SystemBody>('GET', detailsPath(resourceId, place.appId, place.versionId))).body;
  const withAccount = () => createdSystem(app, place, { payload: { authorization: serviceAccount() } });
  const hasSecret = async ({ id }: SystemBody, secret: string | null) => {
    const row = await systemRow(app, id);
    return row !== null && app.nest.get(SystemSecrets).matches(row, secret);
  };

  it('changes all fields, keeps the ids, and returns who changed it and when', async () => {
    const system = await withAccount();
    const before = await systemRow(app, system.id);
    await sleep(5);
    const token = await app.tokenWith({
      sub: 'user-2',
      given_name: 'Max',
      family_name: 'Muster',
      preferred_username: 'max',
    });

    const { status, body, text } = await update(
      system,
      {
        name: 'New 📦',
        description: 'New purpose',
        baseUrl: 'http://other.example.com:8080/mcp?key=1',
        ...account({
          clientId: 'client-2',
          clientSecret: 'a new secret',
          identityProviderUrl: 'https://sso.example.org/token',
        }),
      },
      token,
    );

    expect(status).toBe(200);
    const { modifiedDate } = body;
    expect(body).toEqual({
      ...(await details(system)),
      id: system.id,
      resourceId: system.resourceId,
      resourceDefinitionId: system.resourceDefinitionId,
      type: 'MCP',
      name: 'New 📦',
      description: 'New purpose',
      baseUrl: 'http://other.example.com:8080/mcp?key=1',
      authorization: {
        type: 'SERVICE_ACCOUNT',
        config: { clientId: 'client-2', identityProviderUrl: 'https://sso.example.org/token' },
      },
      createdDate: system.createdDate,
      createdBy: { ...system.createdBy, impersonatingUser: null },
      modifiedBy: { firstName: 'Max', lastName: 'Muster', userName: 'max', impersonatingUser: null },
    });
    expect(Date.parse(modifiedDate)).toBeGreaterThan(Date.parse(system.modifiedDate));
    expect(text).not.toContain('a new secret');
    const after = await systemRow(app, system.id);
    expect(after).toEqual({
      ...before,
      name: 'New 📦',
      description: 'New purpose',
      baseUrl: 'http://other.example.com:8080/mcp?key=1',
      clientId: 'client-2',
      clientSecret: expect.not.stringContaining('secret'),
      identityProviderUrl: 'https://sso.example.org/token',
      connectionKey: expect.stringMatching(/^[0-9a-f]{64}$/),
      modifiedBy: { firstName: 'Max', lastName: 'Muster', userName: 'max', impersonatingUser: null },
      modifiedAt: new Date(modifiedDate),
    });
    expect(after?.connectionKey).not.toBe(before?.connectionKey);
    expect(await hasSecret(system, 'a new secret')).toBe(true);
  });

  it.each([{}, { description: 'Purpose' }, account({}), { authorization: { type: 'SERVICE_ACCOUNT' } }])(
    'stores nothing for the change %j, which changes nothing',
    async (change) => {
      const system = await createdSystem(app, place, {
        payload: { description: 'Purpose', authorization: serviceAccount() },
      });
      const before = await systemRow(app, system.id);
      const events = await auditRows(app, place);

      const { status, body } = await update(system, change);

      expect(status).toBe(200);
      expect(body).toEqual(await details(system));
      expect(await systemRow(app, system.id)).toEqual(before);
      expect(await auditRows(app, place)).toEqual(events);
    },
  );

  it('treats the stored secret as a change, so that a guess is not confirmed', async () => {
    const secret = 'correct horse battery staple';
    const system = await createdSystem(app, place, { payload: { authorization: serviceAccount() } });
    const before = await systemRow(app, system.id);

    const { status } = await update(system, account({ clientSecret: secret }));

    expect(status).toBe(200);
    const after = await systemRow(app, system.id);
    expect(after?.clientSecret).not.toBe(before?.clientSecret);
    expect(await hasSecret(system, secret)).toBe(true);
    expect((await auditRows(app, place)).at(-1)?.details).toMatchObject({ fields: ['clientSecret'] });
  });

  it.each([
    [{ name: 'Only the name' }, { name: 'Only the name' }],
    [{ description: 'Only the purpose' }, { description: 'Only the purpose' }],
    [{ description: '' }, { description: '' }],
    [{ description: null }, { description: '' }],
  ])('keeps the fields that the change %j omits', async (change, columns) => {
    const system = await createdSystem(app, place, {
      payload: { description: 'Purpose', authorization: serviceAccount() },
    });
    const before = await systemRow(app, system.id);

    expect((await update(system, change)).status).toBe(200);

    expect(await systemRow(app, system.id)).toEqual({
      ...before,
      ...columns,
      modifiedAt: expect.any(Date),
    });
    expect(await hasSecret(system, SECRET)).toBe(true);
  });

  it('changes the client id and keeps the secret', async () => {
    const system = await withAccount();
    const { body } = await update(system, account({ clientId: 'client-2' }));
    expect(body.authorization).toMatchObject({ config: { clientId: 'client-2' } });
    expect(await hasSecret(system, SECRET)).toBe(true);
  });

  it('replaces only the secret', async () => {
    const system = await withAccount();
    const before = await systemRow(app, system.id);

    const { status, text } = await update(system, account({ clientSecret: 'rotated' }));

    expect(status).toBe(200);
    expect(text).not.toContain('rotated');
    expect(await hasSecret(system, 'rotated')).toBe(true);
    expect((await systemRow(app, system.id))?.connectionKey).toBe(before?.connectionKey);
  });

  it.each([
    ['baseUrl', { baseUrl: 'https://elsewhere.example.com/mcp' }],
    ['the path of baseUrl', { baseUrl: 'https://mcp.example.com/other' }],
    ['the scheme of baseUrl', { baseUrl: 'http://mcp.example.com/mcp' }],
    ['identityProviderUrl', account({ identityProviderUrl: 'https://elsewhere.example.com/token' })],
  ])('requires the secret again if %s changes', async (_what, change) => {
    const system = await withAccount();
    const before = await systemRow(app, system.id);

    const { status, body } = await update(system, change);

    expect(status).toBe(400);
    expect(body.message).toBe('Changing baseUrl or identityProviderUrl needs the client secret again.');
    expect(body.details).toBe(`${CLIENT_SECRET}: is required`);
    expect(await systemRow(app, system.id)).toEqual(before);
  });

  it('accepts another spelling of the same URLs without the secret', async () => {
    const system = await withAccount();
    const change = {
      baseUrl: 'HTTPS://MCP.example.com:443/x/../mcp',
      ...account({ identityProviderUrl: 'https://SSO.example.com/token' }),
    };

    const { status, body } = await update(system, change);

    expect(status).toBe(200);
    expect(body.baseUrl).toBe(change.baseUrl);
    expect(await hasSecret(system, SECRET)).toBe(true);
  });

  it('changes the baseUrl of a system without authentication', async () => {
    const system = await createdSystem(app, place);
    const { status, body } = await update(system, { baseUrl: 'https://elsewhere.example.com/mcp' });
    expect(status).toBe(200);
    expect(body.baseUrl).toBe('https://elsewhere.example.com/mcp');
  });

  it('deletes the credentials if the type becomes NO_AUTH, ignoring any configuration', async () => {
    const system = await withAccount();

    const { status, body } = await update(system, {
      authorization: { type: 'NO_AUTH', configuration: { clientId: 7 } },
    });

    expect(status).toBe(200);
    expect(body.authorization).toEqual({ type: 'NO_AUTH' });
    expect(await systemRow(app, system.id)).toMatchObject({
      authorizationType: 'NO_AUTH',
      clientId: null,
      clientSecret: null,
      identityProviderUrl: null,
    });
  });

  it('changes NO_AUTH to SERVICE_ACCOUNT with complete credentials', async () => {
    const system = await createdSystem(app, place);
    expect((await update(system, { authorization: serviceAccount() })).status).toBe(200);
    expect(await hasSecret(system, SECRET)).toBe(true);
  });

  it.each([
    [{}, ['clientId', 'clientSecret', 'identityProviderUrl']],
    [{ clientId: 'c' }, ['clientSecret', 'identityProviderUrl']],
    [{ clientId: 'c', identityProviderUrl: 'https://sso.example.com/token' }, ['clientSecret']],
    [{ clientSecret: 's' }, ['clientId', 'identityProviderUrl']],
  ])('does not change NO_AUTH to SERVICE_ACCOUNT with only %j', async (configuration, missing) => {
    const system = await createdSystem(app, place);
    const { status, body } = await update(system, account(configuration));
    expect(status).toBe(400);
    expect(body.details).toBe(
      missing
        .map((name) => `authorization.configuration.${name}: is required for SERVICE_ACCOUNT`)
        .join('; '),
    );
    expect(await systemRow(app, system.id)).toMatchObject({ authorizationType: 'NO_AUTH', clientId: null });
  });

  it('keeps the tools unchanged', async () => {
    const system = await createdSystem(app, place);
    await insertTools(app, system.id, [{ name: 'one' }, { name: 'two', enabled: false }]);
    const before = await toolRows(app, system.id);

    const { body } = await update(system, { name: 'Other', baseUrl: 'https://elsewhere.example.com/' });

    expect(body.tools.map(({ name, enabled }) => [name, enabled])).toEqual([
      ['one', true],
      ['two', false],
    ]);
    expect(await toolRows(app, system.id)).toEqual(before);
  });

  it('applies twenty concurrent changes atomically', async () => {
    const system = await withAccount();
    const changes = Array.from({ length: 20 }, (_, index) => ({
      name: `name-${index}`,
      description: `description-${index}`,
      ...account({ clientId: `client-${index}`, clientSecret: `secret-${index}` }),
    }));

    const answers = await Promise.all(changes.map((change) => update(system, change)));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const row = await systemRow(app, system.id);
    const winner = row?.name.replace('name-', '') ?? '';
    expect(row).toMatchObject({ description: `description-${winner}`, clientId: `client-${winner}` });
    expect(await hasSecret(system, `secret-${winner}`)).toBe(true);
  });

  it('loses none of the concurrent changes to different fields', async () => {
    const system = await withAccount();
    await Promise.all(
      [{ name: 'N' }, { description: 'D' }, account({ clientId: 'C' }), account({ clientSecret: 'S' })].map(
        (change) => update(system, change),
      ),
    );
    expect(await systemRow(app, system.id)).toMatchObject({ name: 'N', description: 'D', clientId: 'C' });
    expect(await hasSecret(system, 'S')).toBe(true);
  });
});
