import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { TestApp } from '../../support/app.js';
import {
  connectionTestPath,
  createPath,
  createSystemBody,
  serviceAccount,
  systemPath,
  uniqueName,
} from '../../support/factories.js';
import { type ModernPeer, startModernPeer } from '../../support/peers/official.peers.js';
import { deliveryPath, packageDocument } from '../../support/runtime/publish.js';
import { createdSystem, newPlace } from './rows.js';

const RULE = 'must be an https URL: this service calls no plain http (OUTBOUND_HTTP)';
const PLAIN = 'http://mcp.example.com/mcp';

describe('plain http in production', () => {
  let app: TestApp;
  let peer: ModernPeer;

  beforeAll(async () => {
    // An empty value counts as unset, so this tests the default.
    app = await TestApp.start({ OUTBOUND_HTTP: '' });
    peer = await startModernPeer([{ name: 'echo' }]);
  });
  afterAll(async () => {
    await app.close();
    await peer.close();
  });

  it.each([
    ['baseUrl', { baseUrl: PLAIN }],
    [
      'authorization.configuration.identityProviderUrl',
      { authorization: serviceAccount({ identityProviderUrl: 'HTTP://sso.example.com/token' }) },
    ],
  ])('is rejected in %s of create and update, with a hint what to change', async (field, payload) => {
    const place = newPlace();
    const created = await app.request('PATCH', createPath(place.appId, place.versionId), {
      body: createSystemBody({ payload }),
    });
    expect([created.status, created.body['details']]).toEqual([400, `payload.${field}: ${RULE}`]);

    const system = await createdSystem(app, place);
    const updated = await app.request('PATCH', systemPath(system.resourceId, place.appId, place.versionId), {
      body: payload,
    });
    expect([updated.status, updated.body['details']]).toEqual([400, `${field}: ${RULE}`]);
  });

  it('is rejected in a package', async () => {
    const appId = uniqueName('app');
    const system = { resourceName: 'Scores', type: 'REST', name: 'Scores', baseUrl: PLAIN };
    const { status, body } = await app.request('PUT', `${deliveryPath(appId, 'v1')}/package`, {
      body: packageDocument(appId, { package: { systems: [system] } }),
    });
    expect(status).toBe(400);
    expect(body['problems']).toEqual([
      expect.objectContaining({ code: 'PLAIN_HTTP', element: '/baseUrl', message: `It ${RULE}.` }),
    ]);
  });

  it('is not called even if it was stored with another setting, and other fields can still be changed', async () => {
    const place = newPlace();
    const { id, resourceId } = await createdSystem(app, place);
    await app.dataSource.getRepository(SystemEntity).update({ id }, { baseUrl: peer.url });
    const test = await app.request('PATCH', connectionTestPath(place.appId, place.versionId), {
      body: { baseUrl: peer.url, authorization: { type: 'NO_AUTH' } },
    });
    expect(test.body).toMatchObject({
      status: 500,
      message: 'Connection failed: MCP server is unreachable',
      details:
        'The address uses http, and this service calls https only (OUTBOUND_HTTP); use an https address.',
    });
    expect([...peer.calls.values()]).toEqual([]);
    const renamed = await app.request('PATCH', systemPath(resourceId, place.appId, place.versionId), {
      body: { name: 'Another name' },
    });
    expect(renamed.status).toBe(200);
  });

  it('is called only on loopback with OUTBOUND_HTTP=loopback', async () => {
    const local = await TestApp.start({ OUTBOUND_HTTP: 'loopback' });
    try {
      const body = (baseUrl: string) => ({ baseUrl, authorization: { type: 'NO_AUTH' } });
      const test = (baseUrl: string) => local.request('PATCH', connectionTestPath(), { body: body(baseUrl) });
      expect((await test(peer.url)).body).toMatchObject({ status: 200 });
      expect((await test(PLAIN)).body).toMatchObject({
        details: expect.stringContaining('OUTBOUND_HTTP'),
      });
    } finally {
      await local.close();
    }
  });
});
