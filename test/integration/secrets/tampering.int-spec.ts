import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Log } from '../../../src/common/logging/log.js';
import { SystemEntity } from '../../../src/modules/systems/entities/system.entity.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { connectionTestPath, createPath, createSystemBody, serviceAccount } from '../../support/factories.js';

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
  /** A connection test of the same connection compares its secret with the stored one, which opens it. */
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

  it('is read as long as nobody touched it', async () => {
    const id = await create();
    const sealed = await sealedOf(id);
    expect(sealed).toMatch(/^svc1\.test\./);
    expect(sealed).not.toContain(SECRET);
    expect((await open()).status).toBe(200);
    await store(id, sealed);
    expect((await open()).status).toBe(200);
  });

  it('is refused with any byte changed', async () => {
    const id = await create();
    const sealed = await sealedOf(id);
    for (const changed of changedBytes(sealed)) {
      await store(id, changed);
      await expectRefused();
    }
    await store(id, sealed);
    expect((await open()).status).toBe(200);
  });

  it.each([0, 1, 4, 8, 12, 15])('is refused with a tag of %i bytes', async (length) => {
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
    'svc1',
    'svc1.test...',
    'plain text',
    'svc1.test.AAAA.AAAA.AAAA.AAAA',
    'svc0.test.AAAA.AAAA.AAAA',
  ])('is refused when it is "%s"', async (value) => {
    await store(await create(), value);
    await expectRefused();
  });

  it('is refused in another row, although the secret is the same', async () => {
    const [a, b] = [await create('client'), await create('client')];
    const [sealedA, sealedB] = [await sealedOf(a), await sealedOf(b)];
    expect(sealedA).not.toBe(sealedB);
    await store(a, sealedB);
    await expectRefused();
    await store(a, sealedA);
    expect((await open()).status).toBe(200);
  });

  it('never shows in a response or a log line', async () => {
    await store(await create(), 'svc1.test.AAAA.AAAA.AAAA');
    const response = await open();
    const told = JSON.stringify([response.text, logged.mock.calls.map(([, error]) => String(error))]);
    expect(told).not.toContain(SECRET);
    expect(told).not.toContain('svc1');
  });
});

/** The sealed value once for each of its bytes, with that byte changed. */
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
