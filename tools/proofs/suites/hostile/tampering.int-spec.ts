import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Log } from '../../../../src/platform/observability/logging/log.js';
import { SecretUnreadableError } from '../../../../src/platform/secrets/secret-cipher.js';
import { SystemEntity } from '../../../../src/systems/storage/system.entity.js';
import { SystemConnectionsService } from '../../../../src/systems/lookups/system-connections.service.js';
import { TestApp, type TestResponse } from '../../../../test/support/app.js';
import {
  connectionTestPath,
  createPath,
  createSystemBody,
  serviceAccount,
  systemPath,
} from '../../../../test/support/factories.js';

const SECRET = 'secret-canary-of-the-client';
const BASE_URL = 'http://127.0.0.1:1/mcp';
const TOKEN_URL = 'http://127.0.0.1:1/token';

describe('a stored secret that was tampered with', () => {
  let app: TestApp;
  let version: string;
  let count = 0;
  const logged = vi.spyOn(Log.prototype, 'error');

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    version = `tamper-${(count += 1)}`;
  });
  afterEach(() => logged.mockClear());

  const create = async (clientId = 'client'): Promise<string> => {
    const authorization = serviceAccount({ clientId, clientSecret: SECRET, identityProviderUrl: TOKEN_URL });
    const response = await app.request('PATCH', createPath('app', version), {
      body: createSystemBody({ payload: { baseUrl: BASE_URL, authorization } }),
    });
    return String(response.body['id']);
  };
  const sealedOf = async (id: string): Promise<string> => {
    const row = await app.dataSource.getRepository(SystemEntity).findOneByOrFail({ id });
    return String(row.clientSecret);
  };
  const store = async (id: string, clientSecret: string): Promise<void> => {
    await app.dataSource.getRepository(SystemEntity).update({ id }, { clientSecret });
  };
  /** Runs a connection test, which decrypts the stored secret to compare it. */
  const open = (clientId = 'client'): Promise<TestResponse> => {
    const authorization = serviceAccount({ clientId, clientSecret: SECRET, identityProviderUrl: TOKEN_URL });
    return app.request('PATCH', connectionTestPath('app', version), {
      body: { baseUrl: BASE_URL, authorization },
    });
  };
  const expectRefused = async (): Promise<void> => {
    logged.mockClear();
    const response = await open();
    expect([response.status, response.body]).toEqual([
      500,
      {
        error: 'Internal Server Error',
        message: 'The server could not complete the request.',
        status: 500,
        details: expect.stringMatching(/^request id /),
      },
    ]);
    expect(logged).toHaveBeenCalledWith(
      'request failed',
      expect.objectContaining({ code: 'SECRET_UNREADABLE' }),
      expect.anything(),
    );
  };

  it('is decrypted while unchanged', async () => {
    const id = await create();
    const sealed = await sealedOf(id);
    expect(sealed).toMatch(/^svc2\.test\./);
    expect(sealed).not.toContain(SECRET);
    expect((await open()).status).toBe(200);
    await store(id, sealed);
    expect((await open()).status).toBe(200);
  });

  it('is rejected if any byte was changed', async () => {
    const id = await create();
    const sealed = await sealedOf(id);
    for (const changed of changedBytes(sealed)) {
      await store(id, changed);
      await expectRefused();
    }
    await store(id, sealed);
    expect((await open()).status).toBe(200);
  });

  it.each([0, 1, 4, 8, 12, 15])('is rejected with a tag of %i bytes', async (length) => {
    const id = await create();
    const [format, key, iv, tag, text] = (await sealedOf(id)).split('.') as [
      string,
      string,
      string,
      string,
      string,
    ];
    const cut = Buffer.from(tag, 'base64url').subarray(0, length).toString('base64url');
    await store(id, [format, key, iv, cut, text].join('.'));
    await expectRefused();
  });

  it.each([
    '',
    'svc2',
    'svc2.test...',
    'plain text',
    'svc2.test.AAAA.AAAA.AAAA.AAAA',
    'svc1.test.AAAA.AAAA.AAAA',
    'svc0.test.AAAA.AAAA.AAAA',
  ])('is rejected if it is "%s"', async (value) => {
    await store(await create(), value);
    await expectRefused();
  });

  it('is rejected in another row, even if the secret is the same', async () => {
    const [a, b] = [await create('client'), await create('client')];
    const [sealedA, sealedB] = [await sealedOf(a), await sealedOf(b)];
    expect(sealedA).not.toBe(sealedB);
    await store(a, sealedB);
    await expectRefused();
    await store(a, sealedA);
    expect((await open()).status).toBe(200);
  });

  it.each([
    ['base_url', 'http://127.0.0.1:2/mcp'],
    ['identity_provider_url', 'http://127.0.0.1:2/token'],
    ['client_id', 'another'],
    ['client_id', null],
    ['authorization_type', 'NO_AUTH'],
  ])('is rejected with a changed %s (%s) in every use', async (column, value) => {
    const id = await create();
    const { baseUrl } = await app.dataSource.getRepository(SystemEntity).findOneByOrFail({ id });
    await app.dataSource.query(`UPDATE systems SET ${column} = ? WHERE id = ?`, [value, id]);
    const connections = app.nest.get(SystemConnectionsService);
    await expect(connections.byId(id)).rejects.toThrow(SecretUnreadableError);
    await expectRefused();
    const { resourceId } = await app.dataSource.getRepository(SystemEntity).findOneByOrFail({ id });
    const changes = { authorization: { type: 'SERVICE_ACCOUNT', configuration: { clientId: 'third' } } };
    const response = await app.request('PATCH', systemPath(resourceId, 'app', version), {
      body: { ...changes, baseUrl },
    });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.text).not.toContain(SECRET);
  });

  it('is decrypted after every change made by the service itself', async () => {
    const id = await create();
    const { resourceId } = await app.dataSource.getRepository(SystemEntity).findOneByOrFail({ id });
    const patch = (body: object) => app.request('PATCH', systemPath(resourceId, 'app', version), { body });
    const account = (configuration: object) => ({
      authorization: { type: 'SERVICE_ACCOUNT', configuration },
    });
    const changes = [
      { name: 'other' },
      account({ clientId: 'third' }),
      { baseUrl: BASE_URL.replace('http', 'HTTP') },
    ];
    for (const change of changes) {
      expect((await patch(change)).status).toBe(200);
      const opened = await app.nest.get(SystemConnectionsService).byId(id);
      expect(opened?.credentials).toMatchObject({ clientSecret: SECRET });
    }
  });

  it('never shows in a response or a log line', async () => {
    await store(await create(), 'svc2.test.AAAA.AAAA.AAAA');
    const response = await open();
    const output = JSON.stringify([response.text, logged.mock.calls.map(([, error]) => String(error))]);
    expect(output).not.toContain(SECRET);
    expect(output).not.toMatch(/svc\d\./);
  });
});

/** Yields the encrypted value once for each of its bytes, with that byte changed. */
function* changedBytes(sealed: string): Generator<string> {
  const parts = sealed.split('.');
  for (const [index, part] of parts.entries()) {
    const isText = index < 2;
    const bytes = Buffer.from(part, isText ? 'latin1' : 'base64url');
    for (const position of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[position] = (changed[position] ?? 0) ^ 1;
      yield parts.with(index, changed.toString(isText ? 'latin1' : 'base64url')).join('.');
    }
  }
}
