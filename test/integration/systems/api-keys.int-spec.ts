import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rotateSecrets } from '../../../src/platform/secrets/sealed-columns.js';
import { SecretCipher, SecretUnreadableError } from '../../../src/platform/secrets/secret-cipher.js';
import { SystemSecrets } from '../../../src/systems/secrets/system-secrets.js';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { SystemConnectionsService } from '../../../src/systems/lookups/system-connections.service.js';
import { TestApp } from '../../support/app.js';
import {
  connectionTestPath,
  createPath,
  createSystemBody,
  detailsPath,
  systemPath,
} from '../../support/factories.js';
import { startModernPeer } from '../../support/peers/official.peers.js';
import { keptPeers } from '../../support/peers/kept-peers.js';
import { startLegacySse } from '../../support/peers/legacy-sse.peer.js';
import { startHttpPeer, type Peer } from '../../support/peers/peer.js';
import { sendResult, startScriptedMcp } from '../../support/peers/scripted-mcp.peer.js';
import { packageDocument } from '../../support/runtime/publish.js';
import { store } from '../builds/rows.js';
import { auditRows, countSystems, createdSystem, newPlace, systemRow, type Place } from './rows.js';

const KEY = 'key-canary-of-the-server';
const CONFIGURATION = 'payload.authorization.configuration';

const apiKey = (configuration: Record<string, unknown> = {}) => ({
  type: 'API_KEY',
  configuration: { apiKey: KEY, ...configuration },
});

describe('a system with an API key', () => {
  let app: TestApp;
  let place: Place;
  const keep = keptPeers();

  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const created = (configuration: Record<string, unknown> = {}, baseUrl = 'https://mcp.example.com/mcp') =>
    createdSystem(app, place, { payload: { baseUrl, authorization: apiKey(configuration) } });
  const patch = (resourceId: string, body: object) =>
    app.request('PATCH', systemPath(resourceId, place.appId, place.versionId), { body });
  const put = (resourceId: string, body: object) =>
    app.request('PUT', `${systemPath(resourceId, place.appId, place.versionId)}/client-secret`, { body });
  const opened = async (id: string) => (await app.nest.get(SystemConnectionsService).byId(id))?.credentials;
  const test = (baseUrl: string, authorization: object) =>
    app.request('PATCH', connectionTestPath(place.appId, place.versionId), {
      body: { baseUrl, authorization },
    });

  describe('is stored', () => {
    it.each([
      [{}, { headerName: 'Authorization', scheme: 'Bearer' }],
      [{ headerName: 'X-API-Key' }, { headerName: 'X-API-Key', scheme: null }],
      [
        { headerName: 'X-API-Key', scheme: 'Key' },
        { headerName: 'X-API-Key', scheme: 'Key' },
      ],
      [
        { headerName: 'authorization', scheme: null },
        { headerName: 'authorization', scheme: null },
      ],
    ])('from %j as %j, without ever exposing its key', async (sent, shown) => {
      const system = await created(sent);
      expect(system.authorization).toEqual({ type: 'API_KEY', configuration: shown });
      const details = await app.request('GET', detailsPath(system.resourceId, place.appId, place.versionId));
      expect(details.body['authorization']).toEqual({ type: 'API_KEY', config: shown });
      expect(await opened(system.id)).toEqual({ type: 'API_KEY', apiKey: KEY, ...shown });
      const row = JSON.stringify([await systemRow(app, system.id), await auditRows(app, place)]);
      expect(`${details.text}${JSON.stringify(system)}${row}`).not.toContain(KEY);
    });

    it.each(
      [
        'Host',
        'content-length',
        'Content-Type',
        'Mcp-Session-Id',
        'mcp-protocol-version',
        'Cookie',
        'Connection',
        'keep-alive',
        'Transfer-Encoding',
        'TE',
        'Trailer',
        'Upgrade',
        'Proxy-Authorization',
        'Expect',
        'Accept',
        'traceparent',
        'Last-Event-ID',
        'X-Forwarded-For',
        'X-Original-URL',
        'X-Rewrite-URL',
        '__proto__',
        'with blank',
        'line\r\nbreak',
        'naïve',
        '',
        ':path',
        'x'.repeat(65),
        7,
        null,
      ].map((name) => [name]),
    )('except with the header %j', async (headerName) => {
      const { status, body, text } = await app.request('PATCH', createPath(place.appId, place.versionId), {
        body: createSystemBody({ payload: { authorization: apiKey({ headerName }) } }),
      });
      expect(status).toBe(400);
      expect(body['details']).toBe(
        `${CONFIGURATION}.headerName: must be the name of a header that can hold a key`,
      );
      expect(text).not.toContain(KEY);
      expect(await countSystems(app, place)).toBe(0);
    });

    it.each([
      [{ apiKey: undefined }, 'apiKey: must be a string'],
      [{ apiKey: '' }, 'apiKey: must have 1 to 4096 characters'],
      [{ apiKey: `${KEY} ` }, 'apiKey: must not begin or end with a space'],
      [{ apiKey: `${KEY}\r\nX-Other: 1` }, 'apiKey: must be printable ASCII'],
      [{ scheme: 'two words' }, 'scheme: must be the name of an authentication scheme, or null'],
      [{ scheme: '' }, 'scheme: must be the name of an authentication scheme, or null'],
      [{ clientId: 'x' }, 'clientId: is not a known field'],
    ])('except with %j', async (configuration, rule) => {
      const { status, body } = await app.request('PATCH', createPath(place.appId, place.versionId), {
        body: createSystemBody({ payload: { authorization: apiKey(configuration) } }),
      });
      expect(status).toBe(400);
      expect(body['details']).toContain(rule);
    });
  });

  describe('is changed', () => {
    it('in the given fields, and keeps the others', async () => {
      const { id, resourceId } = await created();
      const change = (configuration: object) =>
        patch(resourceId, { authorization: { type: 'API_KEY', configuration } });
      expect((await change({ headerName: 'X-Key' })).body['authorization']).toEqual({
        type: 'API_KEY',
        config: { headerName: 'X-Key', scheme: null },
      });
      expect(await opened(id)).toMatchObject({ headerName: 'X-Key', apiKey: KEY });
      await change({ scheme: 'Token' });
      expect(await opened(id)).toMatchObject({ headerName: 'X-Key', scheme: 'Token', apiKey: KEY });
      await change({ apiKey: 'another-key' });
      expect(await opened(id)).toMatchObject({ headerName: 'X-Key', scheme: 'Token', apiKey: 'another-key' });
      const events = await auditRows(app, place);
      expect(events.slice(1).map(({ details }) => details?.['fields'])).toEqual([
        ['credentialOptions'],
        ['credentialOptions'],
        ['apiKey'],
      ]);
    });

    it('to another address only with the key', async () => {
      const { id, resourceId } = await created();
      const baseUrl = 'https://other.example.com/mcp';
      expect(await patch(resourceId, { baseUrl })).toMatchObject({
        status: 400,
        body: {
          message:
            'Changing baseUrl, identityProviderUrl or tls.caCertificates needs the stored secrets again.',
          details: 'authorization.configuration.apiKey: is required',
        },
      });
      expect((await patch(resourceId, { baseUrl, authorization: apiKey() })).status).toBe(200);
      expect(await opened(id)).toMatchObject({ apiKey: KEY });
    });

    it('to and from a service account only with the new secret', async () => {
      const { id, resourceId } = await created();
      const account = { clientId: 'client', identityProviderUrl: 'https://sso.example.com/token' };
      const asAccount = (configuration: object) => ({
        authorization: { type: 'SERVICE_ACCOUNT', configuration },
      });
      expect(await patch(resourceId, asAccount(account))).toMatchObject({
        status: 400,
        body: { details: 'authorization.configuration.clientSecret: is required for SERVICE_ACCOUNT' },
      });
      expect((await patch(resourceId, asAccount({ ...account, clientSecret: 'hush-hush' }))).status).toBe(
        200,
      );
      expect(await opened(id)).toMatchObject({ type: 'SERVICE_ACCOUNT', clientSecret: 'hush-hush' });
      expect(await patch(resourceId, { authorization: { type: 'API_KEY' } })).toMatchObject({
        status: 400,
        body: { details: 'authorization.configuration.apiKey: is required for API_KEY' },
      });
      expect((await patch(resourceId, { authorization: { type: 'NO_AUTH' } })).status).toBe(200);
      expect(await systemRow(app, id)).toMatchObject({ clientSecret: null, credentialOptions: null });
    });

    it('by replacing only the key, if the system has an API key', async () => {
      const { id, resourceId } = await created({ headerName: 'X-Key' });
      expect(await put(resourceId, { apiKey: 'the-next-key' })).toMatchObject({
        status: 200,
        body: { message: 'API key replaced.' },
      });
      expect(await opened(id)).toMatchObject({ headerName: 'X-Key', apiKey: 'the-next-key' });
      expect(await put(resourceId, { clientSecret: 'a-client-secret' })).toMatchObject({
        status: 409,
        body: { message: 'The system has no service account.' },
      });
      const plain = await createdSystem(app, place);
      expect(await put(plain.resourceId, { apiKey: 'the-next-key' })).toMatchObject({
        status: 409,
        body: { message: 'The system has no API key.' },
      });
      expect((await put(resourceId, { apiKey: 'a-key', clientSecret: 'a-secret' })).status).toBe(400);
    });
  });

  describe('keeps its key encrypted', () => {
    it.each([
      ['base_url', 'http://127.0.0.1:2/mcp'],
      ['authorization_type', 'SERVICE_ACCOUNT'],
      ['credential_options', '{"headerName":"X-Other","scheme":null}'],
      ['credential_options', null],
    ])('and does not decrypt it if %s was changed (%s)', async (column, value) => {
      const { id } = await created();
      await app.dataSource.query(`UPDATE systems SET ${column} = ? WHERE id = ?`, [value, id]);
      await expect(opened(id)).rejects.toThrow(SecretUnreadableError);
    });

    it('after a rotation of the encryption keys', async () => {
      const { id } = await created({ headerName: 'X-Key' });
      const next = { id: 'next', key: Buffer.alloc(32, 9) };
      const cipher = new SecretCipher([next, { id: 'test', key: Buffer.alloc(32, 7) }]);
      const { unreadable, resealed } = await rotateSecrets(app.dataSource.manager, cipher);
      expect(unreadable.filter((row) => row.includes(id))).toEqual([]);
      expect(resealed).toBeGreaterThan(0);
      const row = await app.dataSource.getRepository(SystemEntity).findOneByOrFail({ id });
      expect(row.clientSecret).toMatch(/^svc2\.next\./);
      expect(new SystemSecrets(new SecretCipher([next])).open(row, row.clientSecret ?? '')).toBe(KEY);
    });
  });

  describe('is tested', () => {
    it('with the key in its header, whether stored or not', async () => {
      const peer = await keep(startModernPeer([{ name: 'a' }], (token) => token === KEY));
      expect((await test(peer.url, apiKey())).body).toMatchObject({
        status: 200,
        message: 'Connection successful',
        synchronizedSystems: [],
      });
      const { resourceId } = await created({ headerName: 'AUTHORIZATION', scheme: 'bearer' }, peer.url);
      expect((await test(peer.url, apiKey())).body).toMatchObject({
        status: 200,
        synchronizedSystems: [{ resourceId }],
      });
      expect((await test(peer.url, apiKey({ headerName: 'X-Key' }))).body).toMatchObject({ status: 400 });
      expect(peer.authorizations).toContain(`Bearer ${KEY}`);
    });

    it.each([
      ['a wrong key', apiKey({ apiKey: 'a-wrong-key' })],
      ['no key', { type: 'NO_AUTH' }],
    ])('and rejected with %s', async (_what, authorization) => {
      const peer = await keep(startModernPeer([{ name: 'a' }], (token) => token === KEY));
      expect((await test(peer.url, authorization)).body).toMatchObject({
        status: 400,
        message: 'Connection failed: Invalid authentication credentials',
      });
    });

    it.each<[string, (elsewhere: string) => Promise<Peer>]>([
      [
        'by a redirect',
        (location) => startHttpPeer((_, response) => void response.writeHead(307, { location }).end()),
      ],
      [
        'by the address for messages of HTTP+SSE',
        (address) =>
          startLegacySse({
            stream: (_, response) => {
              response.writeHead(200, { 'content-type': 'text/event-stream' });
              return response.write(`event: endpoint\ndata: ${address}\n\n`);
            },
          }),
      ],
      [
        'by the metadata of another authorization server',
        (url) =>
          startHttpPeer((_, response) => {
            const challenge = { 'www-authenticate': `Bearer resource_metadata="${url}"` };
            response.writeHead(401, challenge).end();
          }),
      ],
    ])('and its key is not sent to another server %s', async (_way, start) => {
      const received: string[] = [];
      const elsewhere = await keep(
        startHttpPeer((request, response) => {
          received.push(request.rawHeaders.join());
          response.end();
        }),
      );
      const peer = await keep(start(elsewhere.url));
      expect((await test(peer.url, apiKey())).body['status']).not.toBe(200);
      expect(received).toEqual([]);
    });

    it('and its key is removed from the response', async () => {
      const peer = await keep(
        startScriptedMcp({
          list: ({ id, request, response }) => {
            const key = String(request.headers['x-key']);
            const description = `${key} ${encodeURIComponent(key)} ${Buffer.from(key).toString('base64')}`;
            sendResult(response, id, {
              tools: [{ name: 'a', description, inputSchema: { type: 'object' } }],
            });
          },
        }),
      );
      const answer = await test(peer.url, apiKey({ headerName: 'X-Key', apiKey: 'a key: with/all+of=it' }));
      expect(answer.body).toMatchObject({
        status: 200,
        tools: [{ name: 'a', description: '[removed] [removed] [removed]' }],
      });
    });
  });

  describe('is delivered in a package', () => {
    const deliver = (system: object) =>
      store(
        app,
        place,
        packageDocument(place.appId, {
          package: { systems: [{ resourceName: 'Tools', type: 'MCP', name: 'Tools', ...system }] },
        }),
      );
    const baseUrl = 'https://mcp.example.com/mcp';

    it('without its key, which is kept until the address changes', async () => {
      const configuration = { headerName: 'X-Key' };
      const first = await deliver({ baseUrl, authorization: { type: 'API_KEY', configuration } });
      expect(first.body).toMatchObject({ warnings: [{ code: 'SECRET_MISSING' }] });
      const row = await app.dataSource
        .getRepository(SystemEntity)
        .findOneByOrFail({ appId: place.appId, resourceName: 'Tools' });
      expect((await put(row.resourceId, { apiKey: KEY })).status).toBe(200);

      const second = await deliver({ baseUrl, authorization: { type: 'API_KEY' } });
      expect(second.body).toMatchObject({ warnings: [] });
      expect(await opened(row.id)).toEqual({
        type: 'API_KEY',
        headerName: 'Authorization',
        scheme: 'Bearer',
        apiKey: KEY,
      });

      const third = await deliver({ baseUrl: `${baseUrl}2`, authorization: { type: 'API_KEY' } });
      expect(third.body).toMatchObject({ warnings: [{ code: 'SECRET_DROPPED' }] });
      expect(await opened(row.id)).toMatchObject({ apiKey: '' });
    });

    it.each([
      ['SECRET_IN_PACKAGE', { apiKey: KEY }],
      ['VALUE_INVALID', { headerName: 'Host' }],
      ['VALUE_INVALID', { scheme: 'two words' }],
    ])('except (%s) with %j', async (code, configuration) => {
      const answer = await deliver({ baseUrl, authorization: { type: 'API_KEY', configuration } });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ problems: [{ code }] });
      expect(answer.text).not.toContain(KEY);
    });
  });
});
