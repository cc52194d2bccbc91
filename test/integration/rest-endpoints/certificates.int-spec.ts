import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { v7 as uuid } from 'uuid';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { TestApp } from '../../support/app.js';
import { startTlsFront } from '../../support/discovery/tls-servers.js';
import {
  connectionTestPath,
  createPath,
  createSystemBody,
  systemPath,
  uniqueName,
} from '../../support/factories.js';
import { CertificateAuthority, type TlsCertificate } from '../../support/peers/certificates.js';
import { type ModernPeer, startModernPeer } from '../../support/peers/official.peers.js';
import { type Peer, startHttpPeer } from '../../support/peers/peer.js';
import { deliveryPath, packageDocument, publish, workflowOf } from '../../support/runtime/publish.js';
import { runWorkflow } from '../workflows/workflow-package.js';

describe('certificates of a system, from the package to the call', () => {
  let app: TestApp;
  let authority: CertificateAuthority;
  let client: TlsCertificate;
  let peer: Peer;
  let mcp: ModernPeer;
  let restUrl: string;
  let mcpUrl: string;
  const fronts: { close(): Promise<unknown> }[] = [];

  beforeAll(async () => {
    app = await TestApp.shared({ 'restLimits.maxRetries': '0' });
    authority = await CertificateAuthority.create();
    client = await authority.issue({ name: 'agent' });
    const server = { ...(await authority.issue()), ca: authority.cert, requestCert: true };
    peer = await startHttpPeer((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'),
    );
    mcp = await startModernPeer([{ name: 'echo' }]);
    const [rest, tools] = await Promise.all(
      [peer, mcp].map(({ url }) => startTlsFront(Number(new URL(url).port), server)),
    );
    fronts.push(rest!, tools!);
    restUrl = `https://127.0.0.1:${rest!.port}/`;
    mcpUrl = `https://127.0.0.1:${tools!.port}/mcp`;
  });
  afterAll(async () => {
    await app.close();
    await Promise.all([peer, mcp, authority, ...fronts].map((each) => each.close()));
  });

  const systemOf = (rest: Record<string, unknown> = {}) => ({
    resourceName: 'Scores',
    type: 'REST',
    name: 'Scores',
    baseUrl: restUrl,
    ...rest,
  });
  const workflow = () =>
    workflowOf('flow', [
      {
        id: 'call',
        type: 'REST_ENDPOINT',
        responseKey: 'answer',
        payload: { system: { resourceName: 'Scores' }, method: 'GET', path: '/' },
      },
    ]);
  const run = (buildId: string) =>
    runWorkflow(app, buildId, 'flow', { input: {}, runKey: uuid() }).then(
      () => 'done',
      (error: unknown) => (error as { code?: string }).code,
    );

  it('a REST node uses the CA certificates of the package and the configured client certificate', async () => {
    const tls = { caCertificates: authority.cert };
    const of = (systems: unknown[]) => ({ package: { systems, workflows: [workflow()] } });
    const { appId, versionId, buildId } = await publish(app, of([systemOf({ tls })]));
    const other = await publish(app, of([systemOf()]));
    expect(await run(other.buildId)).toBe('REST_CALL_FAILED');
    expect(await run(buildId)).toBe('REST_CALL_FAILED');

    const systems = app.dataSource.getRepository(SystemEntity);
    const { resourceId } = await systems.findOneByOrFail({ appId, appVersionId: versionId });
    const path = `${systemPath(resourceId, appId, versionId)}/client-certificate`;
    const body = { clientCertificate: client.cert, clientKey: client.key };
    expect((await app.request('PUT', path, { body })).status).toBe(200);
    expect(await run(buildId)).toBe('done');
    expect(await run(other.buildId)).toBe('REST_CALL_FAILED');
  });

  it('a delivery keeps both, but deletes the key if the address or CA certificates change', async () => {
    const [appId, versionId] = [uniqueName('app'), 'v1'];
    const deliver = async (system: Record<string, unknown>) => {
      const document = packageDocument(appId, { package: { systems: [system] } });
      const path = `${deliveryPath(appId, versionId)}/package`;
      const { body } = await app.request('PUT', path, { body: document });
      const warnings = (body['warnings'] as { code: string }[]).map(({ code }) => code);
      const row = await app.dataSource
        .getRepository(SystemEntity)
        .findOneByOrFail({ appId, appVersionId: versionId });
      return { warnings, row };
    };
    const tls = { caCertificates: authority.cert };
    const { row: first } = await deliver(systemOf({ tls }));
    const path = `${systemPath(first.resourceId, appId, versionId)}/client-certificate`;
    await app.request('PUT', path, { body: { clientCertificate: client.cert, clientKey: client.key } });

    for (const kept of [systemOf({ tls, name: 'A' }), systemOf({ name: 'B' })]) {
      const { row, warnings } = await deliver(kept);
      expect(warnings).toEqual([]);
      expect([row.caCertificates, row.clientKey]).toEqual([
        first.caCertificates,
        expect.stringMatching(/^svc2\./),
      ]);
    }
    const moved = await deliver(systemOf({ tls: null }));
    expect(moved.warnings).toEqual(['SECRET_DROPPED']);
    expect([moved.row.caCertificates, moved.row.clientKey]).toEqual([null, null]);
    expect((await deliver(systemOf({ name: 'C' }))).warnings).toEqual(['SECRET_MISSING']);
  });

  it('a connection test synchronizes only systems with the same certificates and key', async () => {
    const [appId, versionId] = [uniqueName('app'), 'v1'];
    const tls = {
      caCertificates: authority.cert,
      clientCertificate: client.cert,
      clientKey: client.key,
    };
    const payload = { baseUrl: mcpUrl };
    const created = await app.request('PATCH', createPath(appId, versionId), {
      body: createSystemBody({ payload: { ...payload, tls } }),
    });
    await app.request('PATCH', createPath(appId, versionId), { body: createSystemBody({ payload }) });
    const test = (sent: unknown) =>
      app.request('PATCH', connectionTestPath(appId, versionId), {
        body: {
          ...payload,
          authorization: { type: 'NO_AUTH' },
          ...(sent === undefined ? {} : { tls: sent }),
        },
      });
    const good = await test(tls);
    expect(good.body).toMatchObject({
      status: 200,
      synchronizedSystems: [{ resourceId: created.body['resourceId'], added: ['echo'] }],
    });
    const bad = await test(undefined);
    expect(bad.body).toMatchObject({ status: 500, details: expect.stringMatching(/secure|broke/) });
    const renewed = await authority.issue({ name: 'agent' });
    const other = await test({ ...tls, clientCertificate: renewed.cert, clientKey: renewed.key });
    expect(other.body).toMatchObject({ status: 200, synchronizedSystems: [] });
    expect(JSON.stringify([created.body, good.body, bad.body])).not.toContain('PRIVATE KEY');
  });
});
