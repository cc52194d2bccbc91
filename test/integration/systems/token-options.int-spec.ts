import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SecretUnreadableError } from '../../../src/platform/secrets/secret-cipher.js';
import { SystemConnectionsService } from '../../../src/systems/lookups/system-connections.service.js';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { TestApp } from '../../support/app.js';
import {
  connectionTestPath,
  createPath,
  createSystemBody,
  detailsPath,
  serviceAccount,
  systemPath,
} from '../../support/factories.js';
import { startModernPeer } from '../../support/peers/official.peers.js';
import { startTokenPeer } from '../../support/peers/token.peer.js';
import { packageDocument } from '../../support/runtime/publish.js';
import { store } from '../builds/rows.js';
import { auditRows, createdSystem, newPlace, systemRow, type Place } from './rows.js';

const PEM = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const OPTIONS = {
  scope: 'tools.read tools.call',
  tokenParameters: { tenant: 'acme', audience: 'https://api' },
};

describe('scope and additional parameters of the token request', () => {
  let app: TestApp;
  let place: Place;

  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const created = (configuration: Record<string, unknown> = OPTIONS) =>
    createdSystem(app, place, { payload: { authorization: serviceAccount(configuration) } });
  const patch = (resourceId: string, configuration: object) =>
    app.request('PATCH', systemPath(resourceId, place.appId, place.versionId), {
      body: { authorization: { type: 'SERVICE_ACCOUNT', configuration } },
    });
  const put = (resourceId: string, body: object) =>
    app.request('PUT', `${systemPath(resourceId, place.appId, place.versionId)}/client-secret`, { body });
  const opened = async (id: string) => (await app.nest.get(SystemConnectionsService).byId(id))?.credentials;

  it('are stored and shown, and kept when the secret is replaced', async () => {
    const { id, resourceId, authorization } = await created();
    expect(authorization).toEqual({
      type: 'SERVICE_ACCOUNT',
      configuration: {
        clientId: 'client-1',
        identityProviderUrl: 'https://sso.example.com/token',
        ...OPTIONS,
      },
    });
    expect((await put(resourceId, { clientSecret: 'the-next-secret' })).status).toBe(200);
    expect(await opened(id)).toMatchObject({ clientSecret: 'the-next-secret', ...OPTIONS });
    expect((await put(resourceId, { privateKey: PEM })).status).toBe(200);
    expect(await opened(id)).toMatchObject({ privateKey: PEM, algorithm: 'ES256', ...OPTIONS });
    const { body } = await app.request('GET', detailsPath(resourceId, place.appId, place.versionId));
    expect(body['authorization']).toMatchObject({
      config: { authenticationMethod: 'private_key_jwt', ...OPTIONS },
    });
  });

  it('can be changed, are kept if omitted, and removed by null', async () => {
    const { id, resourceId } = await created();
    expect((await patch(resourceId, { clientId: 'client-2' })).status).toBe(200);
    expect(await opened(id)).toMatchObject({ clientId: 'client-2', ...OPTIONS });
    const changed = await patch(resourceId, { scope: 'all', tokenParameters: null });
    expect(changed.body['authorization']).toEqual({
      type: 'SERVICE_ACCOUNT',
      config: { clientId: 'client-2', identityProviderUrl: 'https://sso.example.com/token', scope: 'all' },
    });
    expect(await opened(id)).toMatchObject({ clientSecret: 'correct horse battery staple', scope: 'all' });
    await patch(resourceId, { scope: null });
    expect(await systemRow(app, id)).toMatchObject({ credentialOptions: null });
    const fields = (await auditRows(app, place)).map(({ details }) => details?.['fields']);
    expect(fields.slice(-2)).toEqual([['credentialOptions'], ['credentialOptions']]);
  });

  it.each<[string, unknown]>([
    ['scope', ''],
    ['scope', 'two  spaces'],
    ['scope', 'a\nb'],
    ['scope', 'x'.repeat(1_025)],
    ['scope', 7],
    ['tokenParameters', []],
    ['tokenParameters', { audience: 7 }],
    ['tokenParameters', { audience: '' }],
    ['tokenParameters', { audience: 'ä' }],
    ['tokenParameters', { audience: 'x'.repeat(513) }],
    ['tokenParameters', { 'two words': 'x' }],
    ['tokenParameters', Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`p${index}`, 'x']))],
    ...['grant_type', 'client_id', 'CLIENT_SECRET', 'client_assertion', 'scope', 'resource', 'password'].map(
      (name): [string, unknown] => ['tokenParameters', { [name]: 'x' }],
    ),
  ])('are rejected if invalid: %s %j', async (field, value) => {
    const { status, body } = await app.request('PATCH', createPath(place.appId, place.versionId), {
      body: createSystemBody({ payload: { authorization: serviceAccount({ [field]: value }) } }),
    });
    expect(status).toBe(400);
    expect(body['details']).toContain(`payload.authorization.configuration.${field}: must`);
  });

  it.each([
    ['another scope', '{"scope":"admin","tokenParameters":{"audience":"https://api","tenant":"acme"}}'],
    ['none', null],
  ])('are bound to the encrypted secret (%s)', async (_what, value) => {
    const { id } = await created();
    await app.dataSource.query('UPDATE systems SET credential_options = ? WHERE id = ?', [value, id]);
    await expect(opened(id)).rejects.toThrow(SecretUnreadableError);
  });

  it('are sent by the connection test, which covers only systems with the same values', async () => {
    const tokens = await startTokenPeer();
    const mcp = await startModernPeer([{ name: 'a' }], (token) => tokens.valid.has(token ?? ''));
    const account = (options: object) =>
      serviceAccount({
        clientId: 'client',
        clientSecret: 'secret',
        identityProviderUrl: tokens.url,
        ...options,
      });
    const payload = { baseUrl: mcp.url, authorization: account(OPTIONS) };
    const { resourceId } = await createdSystem(app, place, { payload });
    await createdSystem(app, place, { payload: { ...payload, authorization: account({}) } });
    const { body } = await app.request('PATCH', connectionTestPath(place.appId, place.versionId), {
      body: payload,
    });
    expect(body).toMatchObject({ status: 200, synchronizedSystems: [{ resourceId }] });
    expect(body['synchronizedSystems']).toHaveLength(1);
    expect(tokens.requests).toMatchObject([{ scope: OPTIONS.scope, ...OPTIONS.tokenParameters }]);
    await Promise.all([tokens.close(), mcp.close()]);
  });

  describe('in a package', () => {
    const deliver = (options: object) => {
      const configuration = {
        clientId: 'client-1',
        identityProviderUrl: 'https://sso.example.com/token',
        ...options,
      };
      const authorization = { type: 'SERVICE_ACCOUNT', configuration };
      const system = {
        resourceName: 'Tools',
        type: 'MCP',
        name: 'Tools',
        baseUrl: 'https://mcp.example.com',
      };
      return store(
        app,
        place,
        packageDocument(place.appId, { package: { systems: [{ ...system, authorization }] } }),
      );
    };

    it('replace the stored values, and the private key is kept', async () => {
      await deliver({});
      const { id, resourceId } = await app.dataSource
        .getRepository(SystemEntity)
        .findOneByOrFail({ appId: place.appId, resourceName: 'Tools' });
      await put(resourceId, { privateKey: PEM, keyId: 'one' });
      expect((await deliver(OPTIONS)).body).toMatchObject({ warnings: [] });
      expect(await opened(id)).toMatchObject({ privateKey: PEM, keyId: 'one', ...OPTIONS });
      await deliver({ scope: 'all' });
      expect(await opened(id)).toMatchObject({ keyId: 'one', scope: 'all' });
      expect(await opened(id)).not.toHaveProperty('tokenParameters');
    });

    it.each([
      ['VALUE_INVALID', { scope: 'two  spaces' }],
      ['VALUE_INVALID', { tokenParameters: { grant_type: 'password' } }],
    ])('are rejected (%s) if invalid: %j', async (code, options) => {
      expect((await deliver(options)).body).toMatchObject({ problems: [{ code }] });
    });
  });
});
