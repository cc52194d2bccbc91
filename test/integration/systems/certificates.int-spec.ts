import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Log } from '../../../src/platform/observability/logging/log.js';
import { rotateSecrets } from '../../../src/platform/secrets/sealed-columns.js';
import { SecretCipher, SecretUnreadableError } from '../../../src/platform/secrets/secret-cipher.js';
import { canonicalCertificates, canonicalKey } from '../../../src/platform/tls/certificates.js';
import { AuditAction } from '../../../src/audit/model/audit.types.js';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { SystemConnectionsService } from '../../../src/systems/lookups/system-connections.service.js';
import { SystemType } from '../../../src/systems/model/system.types.js';
import { TEST_SECRETS_KEYS, TestApp } from '../../support/app.js';
import {
  createPath,
  createSystemBody,
  detailsPath,
  serviceAccount,
  systemPath,
} from '../../support/factories.js';
import { CertificateAuthority, type TlsCertificate } from '../../support/peers/certificates.js';
import {
  auditRows,
  commitVersion,
  createdSystem,
  insertSystem,
  newPlace,
  type Place,
  systemRow,
} from './rows.js';

const SECRET = 'correct horse battery staple';
const KEY_RULE = 'must be a private key in PEM format that is not encrypted, of RSA with 2,048 to 4,096 bits';
const rsaKey = (modulusLength: number): string =>
  generateKeyPairSync('rsa', { modulusLength })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

describe('certificates of a system', () => {
  let app: TestApp;
  let place: Place;
  let authority: CertificateAuthority;
  let other: CertificateAuthority;
  let client: TlsCertificate;
  let renewed: TlsCertificate;

  beforeAll(async () => {
    app = await TestApp.shared();
    authority = await CertificateAuthority.create();
    other = await CertificateAuthority.create('Another authority');
    client = await authority.issue({ name: 'agent' });
    renewed = await authority.issue({ name: 'agent' });
  });
  afterAll(async () => {
    await app.close();
    await Promise.all([authority.close(), other.close()]);
  });
  beforeEach(() => {
    place = newPlace();
  });

  const tls = () => ({
    caCertificates: `made by hand\n${authority.cert}`,
    clientCertificate: client.cert,
    clientKey: client.key,
  });
  const withTls = (payload: Record<string, unknown> = {}) =>
    createdSystem(app, place, { payload: { tls: tls(), ...payload } });
  const update = (resourceId: string, body: unknown) =>
    app.request('PATCH', systemPath(resourceId, place.appId, place.versionId), { body });
  const replace = (resourceId: string, body: unknown) =>
    app.request('PUT', `${systemPath(resourceId, place.appId, place.versionId)}/client-certificate`, {
      body,
    });
  const opened = async (id: string) =>
    (await app.nest.get(SystemConnectionsService, { strict: false }).byId(id))?.tls;
  const canonical = ({ cert, key }: TlsCertificate) => ({
    cert: canonicalCertificates(cert),
    key: canonicalKey(key),
  });

  it('are shown without the key, which is stored encrypted and decrypted only for calls', async () => {
    const lines: string[] = [];
    const spies = (['info', 'warn', 'error'] as const).map((level) =>
      vi.spyOn(Log.prototype, level).mockImplementation((...values: unknown[]) => {
        lines.push(JSON.stringify(values));
      }),
    );
    const system = await withTls();
    const { body, text } = await app.request(
      'GET',
      detailsPath(system.resourceId, place.appId, place.versionId),
    );
    await update(system.resourceId, { tls: { clientCertificate: renewed.cert, clientKey: renewed.key } });
    spies.forEach((spy) => spy.mockRestore());

    expect((system as unknown as Record<string, unknown>)['tls']).toEqual(body['tls']);
    const date = expect.stringMatching(/^20\d\d-.*Z$/) as unknown;
    expect(body['tls']).toEqual({
      caCertificates: [
        {
          subject: 'CN=Test authority, O=Test',
          issuer: 'CN=Test authority, O=Test',
          fingerprint: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/),
          validFrom: date,
          validTo: date,
        },
      ],
      clientCertificate: expect.objectContaining({ subject: 'CN=agent, O=Test' }),
      hasClientKey: true,
    });
    const row = await systemRow(app, system.id);
    expect(row?.clientKey).toMatch(/^svc2\.test\./);
    const audit = JSON.stringify(await auditRows(app, place));
    for (const { key } of [client, renewed]) {
      const secret = key.split('\n')[1] ?? 'none';
      for (const place of [text, audit, JSON.stringify(row), lines.join('\n')]) {
        expect(place).not.toContain(secret);
      }
    }
    expect(audit).toContain('"fields":["clientCertificate","clientKey"]');
    expect(await opened(system.id)).toEqual({
      app: expect.any(String) as string,
      ca: canonicalCertificates(authority.cert),
      ...canonical(renewed),
    });
  });

  it('are omitted if there are none', async () => {
    expect(await createdSystem(app, place)).not.toHaveProperty('tls');
  });

  it.each([
    ['caCertificates', () => ({ caCertificates: 'none' }), 'must be 1 to 50 certificates in PEM format'],
    ['caCertificates', () => ({ caCertificates: '' }), 'must have 1 to 32768 characters'],
    ['caCertificates', () => ({ caCertificates: 'x'.repeat(32_769) }), 'must have 1 to 32768 characters'],
    ['caCertificates', () => ({ caCertificates: null }), 'must be a string'],
    [
      'caCertificates',
      () => ({ caCertificates: authority.cert.replace(/MII../, 'AAAAA') }),
      'must be 1 to 50 certificates in PEM format',
    ],
    [
      'caCertificates',
      () => ({ caCertificates: authority.cert + client.key }),
      'must not hold a private key',
    ],
    ['clientKey', () => ({ clientCertificate: client.cert }), 'is required with clientCertificate'],
    ['clientCertificate', () => ({ clientKey: client.key }), 'is required with clientKey'],
    [
      'clientKey',
      () => ({ clientCertificate: client.cert, clientKey: renewed.key }),
      'must be the key of clientCertificate',
    ],
    ...[1_024, 4_104].map((modulusLength): [string, () => object, string] => [
      'clientKey',
      () => ({ clientCertificate: client.cert, clientKey: rsaKey(modulusLength) }),
      KEY_RULE,
    ]),
    ['clientKey', () => ({ clientCertificate: client.cert, clientKey: client.cert }), KEY_RULE],
    ['passphrase', () => ({ passphrase: 'x' }), 'is not a known field'],
  ])('are rejected in %s: %s', async (field, sent, rule) => {
    const body = createSystemBody({ payload: { tls: sent() } });
    const response = await app.request('PATCH', createPath(place.appId, place.versionId), { body });
    expect(response.status).toBe(400);
    expect(response.body['details']).toContain(`payload.tls.${field}: ${rule}`);
    expect(response.text).not.toContain('PRIVATE');
  });

  it('are kept if a change omits them, and removed if they are null', async () => {
    const system = await withTls();
    const before = await opened(system.id);
    await update(system.resourceId, { name: 'Another name' });
    await update(system.resourceId, { tls: {} });
    expect(await opened(system.id)).toEqual(before);

    await update(system.resourceId, { tls: { clientCertificate: null } });
    expect(await opened(system.id)).toEqual({ app: before?.app, ca: before?.ca });
    expect((await systemRow(app, system.id))?.clientKey).toBeNull();
    await update(system.resourceId, { tls: null });
    expect(await opened(system.id)).toEqual({ app: before?.app });
  });

  it.each([
    ['baseUrl', () => ({ baseUrl: 'https://elsewhere.example.com/mcp' })],
    [
      'identityProviderUrl',
      () => ({
        authorization: {
          type: 'SERVICE_ACCOUNT',
          configuration: { identityProviderUrl: 'https://x.example.com/', clientSecret: SECRET },
        },
      }),
    ],
    ['caCertificates', () => ({ tls: { caCertificates: other.cert } })],
    ['removed caCertificates', () => ({ tls: { caCertificates: null } })],
  ])('require the key again if %s change', async (what, change) => {
    const system = await withTls({ authorization: serviceAccount({ clientSecret: SECRET }) });
    const row = await systemRow(app, system.id);
    const refused = await update(system.resourceId, change());
    expect(refused.status).toBe(400);
    expect(refused.body['details']).toContain('tls.clientKey: is required');
    expect(refused.body['details']).toEqual(
      what === 'identityProviderUrl'
        ? expect.not.stringContaining('clientSecret')
        : expect.stringContaining('clientSecret: is required'),
    );
    expect(await systemRow(app, system.id)).toEqual(row);

    const { tls: changedTls = {}, ...rest } = change() as { tls?: Record<string, unknown> };
    const configuration = {
      ...(rest as { authorization?: { configuration: Record<string, unknown> } }).authorization
        ?.configuration,
      clientSecret: SECRET,
    };
    const taken = await update(system.resourceId, {
      ...rest,
      authorization: { type: 'SERVICE_ACCOUNT', configuration },
      tls: { ...changedTls, clientKey: client.key },
    });
    expect(taken.status).toBe(200);
    expect(await opened(system.id)).toMatchObject(canonical(client));
  });

  it('require the client secret again if there is no key', async () => {
    const payload = { authorization: serviceAccount({ clientSecret: SECRET }) };
    const system = await createdSystem(app, place, { payload });
    const { status, body } = await update(system.resourceId, { tls: { caCertificates: authority.cert } });
    expect([status, body['details'], body['message']]).toEqual([
      400,
      'authorization.configuration.clientSecret: is required',
      'Changing baseUrl, identityProviderUrl or tls.caCertificates needs the stored secrets again.',
    ]);
  });

  it.each([
    ['a key without a certificate', () => ({ clientKey: client.key }), 'requires a clientCertificate'],
    [
      'the key of another certificate',
      () => ({ clientCertificate: client.cert, clientKey: renewed.key }),
      'must be the key of clientCertificate',
    ],
    [
      'a certificate without its key',
      () => ({ clientCertificate: client.cert }),
      'is required with clientCertificate',
    ],
  ])('cannot be changed to %s', async (_what, sent, rule) => {
    const system = await createdSystem(app, place);
    const { status, body } = await update(system.resourceId, { tls: sent() });
    expect([status, body['details']]).toEqual([400, `tls.clientKey: ${rule}`]);
  });

  it.each(['draft', 'committed'])(
    'can be replaced in a %s version, in systems of all types',
    async (state) => {
      const system = await withTls();
      const baseUrl = 'https://rest.example.com/';
      const rest = await insertSystem(app, place, { type: SystemType.Rest, baseUrl });
      if (state === 'committed') {
        await commitVersion(app, place);
      }
      for (const { id, resourceId } of [system, rest]) {
        const response = await replace(resourceId, {
          clientCertificate: renewed.cert,
          clientKey: renewed.key,
        });
        expect(response.body).toEqual({ status: 200, message: 'Client certificate replaced.', resourceId });
        expect(await opened(id)).toMatchObject(canonical(renewed));
      }
      const [event] = (await auditRows(app, place)).filter(
        ({ action }) => action === AuditAction.SystemUpdate,
      );
      expect(event?.details).toMatchObject({ fields: ['clientCertificate', 'clientKey'] });
      const refused = await replace(system.resourceId, { clientCertificate: client.cert });
      expect(refused.status).toBe(400);
      expect((await replace('00000000-0000-7000-8000-000000000000', {})).status).toBe(404);
    },
  );

  describe('that were tampered with', () => {
    const change = (id: string, column: string, value: string | null) =>
      app.dataSource.query(`UPDATE systems SET ${column} = ? WHERE id = ?`, [value, id]);

    it.each([
      ['base_url', () => 'https://elsewhere.example.com/mcp'],
      ['identity_provider_url', () => 'https://elsewhere.example.com/'],
      ['tls_ca', () => canonicalCertificates(other.cert)],
      ['tls_ca', () => null],
      ['tls_certificate', () => canonicalCertificates(renewed.cert)],
    ])('do not decrypt the key if %s was changed', async (column, value) => {
      const system = await withTls();
      await change(system.id, column, value());
      await expect(opened(system.id)).rejects.toThrow(SecretUnreadableError);
    });

    it.each([
      ['another authority', () => canonicalCertificates(other.cert)],
      ['no authority', () => null],
    ])('do not decrypt the client secret with %s', async (_what, value) => {
      const payload = { authorization: serviceAccount({}), tls: { caCertificates: authority.cert } };
      const system = await createdSystem(app, place, { payload });
      expect(await opened(system.id)).toBeDefined();
      await change(system.id, 'tls_ca', value());
      await expect(opened(system.id)).rejects.toThrow(SecretUnreadableError);
    });

    it('do not decrypt a client secret if an authority was added', async () => {
      const payload = { authorization: serviceAccount({}) };
      const system = await createdSystem(app, place, { payload });
      await change(system.id, 'tls_ca', canonicalCertificates(other.cert));
      await expect(opened(system.id)).rejects.toThrow(SecretUnreadableError);
    });

    it('do not decrypt the key of another row, or a client secret as a key', async () => {
      const [one, two] = [await withTls(), await withTls({ authorization: serviceAccount({}) })];
      const row = await systemRow(app, two.id);
      for (const sealed of [row?.clientKey, row?.clientSecret]) {
        await change(one.id, 'tls_key', sealed ?? null);
        await expect(opened(one.id)).rejects.toThrow(SecretUnreadableError);
      }
    });
  });

  it('have their key re-encrypted by a key rotation', async () => {
    const system = await withTls({ authorization: serviceAccount({}) });
    const before = await opened(system.id);
    const [id = '', key = ''] = TEST_SECRETS_KEYS.split(':');
    const next = { id: 'next', key: Buffer.alloc(32, 9) };
    const cipher = new SecretCipher([next, { id, key: Buffer.from(key, 'base64') }]);
    await app.dataSource.transaction((manager) => rotateSecrets(manager, cipher));
    const row = (await systemRow(app, system.id)) as SystemEntity;
    expect([row.clientKey, row.clientSecret]).toEqual([
      expect.stringMatching(/^svc2\.next\./),
      expect.stringMatching(/^svc2\.next\./),
    ]);
    const back = new SecretCipher([{ id, key: Buffer.from(key, 'base64') }, next]);
    await app.dataSource.transaction((manager) => rotateSecrets(manager, back));
    expect(await opened(system.id)).toEqual(before);
  });
});
