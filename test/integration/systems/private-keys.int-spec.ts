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
  systemPath,
} from '../../support/factories.js';
import { startModernPeer } from '../../support/peers/official.peers.js';
import { startOAuthPeer } from '../../support/oidc-issuer.js';
import { packageDocument } from '../../support/runtime/publish.js';
import { store } from '../builds/rows.js';
import { auditRows, createdSystem, newPlace, systemRow, type Place } from './rows.js';

const RSA = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const PEM = RSA.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const JWK = JSON.stringify({ ...EC.privateKey.export({ format: 'jwk' }), kid: 'of-the-jwk' });
const EC_PEM = EC.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const TOKEN_URL = 'https://sso.example.com/token';

const account = (configuration: Record<string, unknown>) => ({
  type: 'SERVICE_ACCOUNT',
  configuration: { clientId: 'client-1', identityProviderUrl: TOKEN_URL, ...configuration },
});

describe('a service account with a private key', () => {
  let app: TestApp;
  let place: Place;

  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const created = (configuration: Record<string, unknown>) =>
    createdSystem(app, place, { payload: { authorization: account(configuration) } });
  const patch = (resourceId: string, body: object) =>
    app.request('PATCH', systemPath(resourceId, place.appId, place.versionId), { body });
  const put = (resourceId: string, body: object) =>
    app.request('PUT', `${systemPath(resourceId, place.appId, place.versionId)}/client-secret`, { body });
  const opened = async (id: string) => (await app.nest.get(SystemConnectionsService).byId(id))?.credentials;

  it.each([
    ['PEM', { privateKey: PEM, keyId: 'one' }, { algorithm: 'RS256', keyId: 'one' }, PEM],
    ['JWK', { privateKey: JWK }, { algorithm: 'ES256', keyId: 'of-the-jwk' }, EC_PEM],
  ])('is stored from %s, without ever exposing its key', async (_form, sent, shown, privateKey) => {
    const system = await created(sent);
    const configuration = {
      clientId: 'client-1',
      identityProviderUrl: TOKEN_URL,
      authenticationMethod: 'private_key_jwt',
      ...shown,
    };
    expect(system.authorization).toEqual({ type: 'SERVICE_ACCOUNT', configuration });
    const details = await app.request('GET', detailsPath(system.resourceId, place.appId, place.versionId));
    expect(details.body['authorization']).toEqual({ type: 'SERVICE_ACCOUNT', config: configuration });
    expect(await opened(system.id)).toEqual({
      type: 'SERVICE_ACCOUNT',
      clientId: 'client-1',
      tokenUrl: TOKEN_URL,
      privateKey,
      ...shown,
    });
    const row = JSON.stringify([await systemRow(app, system.id), await auditRows(app, place)]);
    const secret = privateKey.split('\n')[1] ?? '';
    expect(secret.length).toBeGreaterThan(20);
    expect(`${details.text}${JSON.stringify(system)}${row}`).not.toContain(secret);
  });

  it.each([
    [{ privateKey: 'a key' }, 'privateKey: must be a private key in PEM or JWK'],
    [{ privateKey: PEM, clientSecret: 'hush' }, 'privateKey: must not be sent together with clientSecret'],
    [{ clientSecret: 'hush', keyId: 'one' }, 'keyId: must not be sent together with clientSecret'],
    [{ keyId: 'one' }, 'clientSecret: must be a string'],
    [{ privateKey: 7 }, 'privateKey: must be a private key in PEM or JWK'],
  ])('is rejected (%#)', async (configuration, rule) => {
    const { status, body, text } = await app.request('PATCH', createPath(place.appId, place.versionId), {
      body: createSystemBody({ payload: { authorization: account(configuration) } }),
    });
    expect(status).toBe(400);
    expect(body['details']).toContain(`payload.authorization.configuration.${rule}`);
    expect(text).not.toContain(PEM.split('\n')[1]);
  });

  it('can replace a client secret, and be replaced by one', async () => {
    const { id, resourceId } = await created({ clientSecret: 'a-client-secret' });
    const configured = (configuration: object) =>
      patch(resourceId, { authorization: { type: 'SERVICE_ACCOUNT', configuration } });
    expect(await configured({ keyId: 'one' })).toMatchObject({
      status: 400,
      body: { details: 'authorization.configuration.keyId: requires a privateKey' },
    });
    expect((await configured({ privateKey: EC_PEM })).status).toBe(200);
    expect(await opened(id)).toMatchObject({ privateKey: EC_PEM, algorithm: 'ES256', keyId: null });
    expect((await configured({ keyId: 'one' })).status).toBe(200);
    expect(await opened(id)).toMatchObject({ privateKey: EC_PEM, keyId: 'one' });
    expect((await configured({ clientId: 'client-2' })).status).toBe(200);
    expect(await opened(id)).toMatchObject({ clientId: 'client-2', privateKey: EC_PEM, keyId: 'one' });
    expect((await configured({ identityProviderUrl: 'https://other.example.com/token' })).status).toBe(400);
    expect((await configured({ clientSecret: 'another-secret' })).status).toBe(200);
    expect(await opened(id)).toMatchObject({ clientSecret: 'another-secret' });
    expect((await put(resourceId, { privateKey: PEM, keyId: 'two' })).body).toMatchObject({
      message: 'Private key replaced.',
    });
    expect(await opened(id)).toMatchObject({ privateKey: PEM, keyId: 'two' });
    const fields = (await auditRows(app, place)).map(({ details }) => details?.['fields']);
    expect(fields.at(-1)).toEqual(['privateKey']);
  });

  it.each([
    ['credential_options', '{"algorithm":"RS512","keyId":null}'],
    ['credential_options', null],
    ['identity_provider_url', 'http://127.0.0.1:2/token'],
    ['client_id', 'another'],
  ])('is not decrypted if %s was changed (%s)', async (column, value) => {
    const { id } = await created({ privateKey: PEM });
    await app.dataSource.query(`UPDATE systems SET ${column} = ? WHERE id = ?`, [value, id]);
    await expect(opened(id)).rejects.toThrow(SecretUnreadableError);
  });

  it('gets a token from a real OAuth server in a connection test, which covers systems with the same key', async () => {
    let resource = '';
    const keys = [{ ...EC.publicKey.export({ format: 'jwk' }), kid: 'of-the-jwk', use: 'sig' }];
    const client = {
      clientId: 'svc',
      jwks: { keys },
      method: 'private_key_jwt' as const,
      algorithm: 'ES256',
    };
    const oauth = await startOAuthPeer([client], () => resource);
    const mcp = await startModernPeer([{ name: 'a' }], oauth.isIssued);
    resource = mcp.url;
    const authorization = account({ clientId: 'svc', identityProviderUrl: oauth.url, privateKey: JWK });
    const payload = { baseUrl: mcp.url, authorization };
    const { resourceId } = await createdSystem(app, place, { payload });
    // It starts with a client secret; replacing that with the key gives it the tested connection.
    const other = await createdSystem(app, place, {
      payload: {
        ...payload,
        authorization: account({ clientId: 'svc', identityProviderUrl: oauth.url, clientSecret: 'hush' }),
      },
    });
    expect((await put(other.resourceId, { privateKey: JWK })).status).toBe(200);
    const { body } = await app.request('PATCH', connectionTestPath(place.appId, place.versionId), {
      body: payload,
    });
    expect(body).toMatchObject({ status: 200, message: 'Connection successful' });
    const covered = body['synchronizedSystems'] as { resourceId: string }[];
    expect(covered.map((system) => system.resourceId).toSorted()).toEqual(
      [resourceId, other.resourceId].toSorted(),
    );
    await Promise.all([oauth.close(), mcp.close()]);
  });

  it('keeps its key when a package is delivered again with the same connection', async () => {
    const system = {
      resourceName: 'Tools',
      type: 'MCP',
      name: 'Tools',
      baseUrl: 'https://mcp.example.com/mcp',
      authorization: {
        type: 'SERVICE_ACCOUNT',
        configuration: { clientId: 'client-1', identityProviderUrl: TOKEN_URL },
      },
    };
    const deliver = (changes: object) =>
      store(app, place, packageDocument(place.appId, { package: { systems: [{ ...system, ...changes }] } }));
    await deliver({});
    const row = await app.dataSource
      .getRepository(SystemEntity)
      .findOneByOrFail({ appId: place.appId, resourceName: 'Tools' });
    expect((await put(row.resourceId, { privateKey: JWK })).status).toBe(200);
    expect((await deliver({ name: 'Other' })).body).toMatchObject({ warnings: [] });
    expect(await opened(row.id)).toMatchObject({ privateKey: EC_PEM, keyId: 'of-the-jwk' });
    expect((await deliver({ baseUrl: 'https://other.example.com/mcp' })).body).toMatchObject({
      warnings: [{ code: 'SECRET_DROPPED' }],
    });
    expect(await systemRow(app, row.id)).toMatchObject({ clientSecret: null, credentialOptions: null });
  });
});
