import { afterEach, describe, expect, it } from 'vitest';
import { TestApp, type TestResponse, limitMetrics } from '../../support/app.js';
import { connectionTestPath, listPath } from '../../support/factories.js';

const PER_MINUTE = 5;

describe('rate limits', () => {
  let app: TestApp;
  afterEach(() => app.close());

  const start = async (settings: Record<string, string>): Promise<void> => {
    app = await TestApp.start(settings);
  };
  it('by address come before authentication, so that bad tokens are limited too', async () => {
    await start({ RATE_LIMIT_ADDRESS_PER_MINUTE: String(PER_MINUTE) });
    expect(await repeat(() => app.request('GET', listPath(), { token: 'bad' }))).toEqual(limited(401));
    const response = await app.request('GET', listPath());
    expect(response.body).toEqual({
      error: 'Too Many Requests',
      message: 'Too many requests.',
      status: 429,
      details: expect.stringMatching(/^RATE_LIMIT_ADDRESS_PER_MINUTE is 5\. Try again in \d+ seconds\.$/),
    });
    const seconds = Number(response.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect((await app.request('GET', '/unknown')).status).toBe(429);
  });

  it.each<[string, () => Promise<TestResponse>, string?]>([
    ['RATE_LIMIT_ADDRESS_PER_MINUTE', () => app.request('GET', listPath())],
    ['RATE_LIMIT_PRINCIPAL_PER_MINUTE', () => app.request('GET', listPath())],
    [
      'connection-tests-per-minute',
      () => app.request('PATCH', connectionTestPath(), { body: {} }),
      'httpLimits.connectionTestsPerMinute',
    ],
    ['rescans-per-minute', () => app.request('GET', '/api/platform/discover'), 'httpLimits.rescansPerMinute'],
  ])('by %s are named by the answer and counted in the metrics', async (name, send, setting = name) => {
    await start({ [setting]: '1' });
    expect((await send()).status).not.toBe(429);
    expect(await limitMetrics(app, name)).toMatchObject({ maximum: 1, refusals: 0 });
    const { status, body } = await send();

    expect({ status, details: body['details'] }).toEqual({
      status: 429,
      details: expect.stringContaining(`${name} is 1.`),
    });
    expect(await limitMetrics(app, name)).toMatchObject({ maximum: 1, refusals: 1 });
  });

  it.each(['RATE_LIMIT_ADDRESS_PER_MINUTE', 'RATE_LIMIT_PRINCIPAL_PER_MINUTE'])(
    'delay refusals beyond %s, so that immediate retries do not slow down others',
    async (limit) => {
      await start({ [limit]: '1', 'httpLimits.refusalDelayMs': '400' });
      expect((await app.request('GET', listPath())).status).not.toBe(429);
      const begun = performance.now();
      expect((await app.request('GET', listPath())).status).toBe(429);
      // A timer may fire slightly early.
      expect(performance.now() - begun).toBeGreaterThan(390);
    },
  );

  it('are reported by every answer that is subject to them, including refusals', async () => {
    await start({
      RATE_LIMIT_ADDRESS_PER_MINUTE: '7',
      RATE_LIMIT_PRINCIPAL_PER_MINUTE: '3',
      'httpLimits.rescansPerMinute': '2',
    });
    const reported = async (path: string, token?: null) => {
      const { status, headers } = await app.request('GET', path, token === null ? { token } : {});
      const left = headers.get('ratelimit')?.replace(/;t=([1-9]|[1-5]\d|60)(?=,|$)/g, '');
      return { status, policy: headers.get('ratelimit-policy'), left };
    };
    const [address, caller, discovery] = ['"address";q=7;w=60', '"caller";q=3;w=60', '"discovery";q=2;w=60'];
    expect(await reported(listPath(), null)).toEqual({ status: 401, policy: address, left: '"address";r=6' });
    expect(await reported(listPath())).toEqual({
      status: 200,
      policy: `${address}, ${caller}`,
      left: '"address";r=5, "caller";r=2',
    });
    expect(await reported('/api/platform/discover')).toMatchObject({
      policy: `${address}, ${caller}, ${discovery}`,
      left: '"address";r=4, "caller";r=1, "discovery";r=1',
    });
    expect(await reported(listPath())).toMatchObject({ status: 200, left: '"address";r=3, "caller";r=0' });
    expect(await reported(listPath())).toMatchObject({ status: 429, left: '"address";r=2, "caller";r=0' });
    expect(await reported('/livez')).toMatchObject({ status: 200, policy: null });
  });

  it('are not reported if there are none', async () => {
    await start({});
    const { headers } = await app.request('GET', listPath());
    expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null]);
  });

  it('do not apply to probes', async () => {
    await start({ RATE_LIMIT_ADDRESS_PER_MINUTE: String(PER_MINUTE) });
    expect(await repeat(() => app.request('GET', '/livez'))).not.toContain(429);
    expect(await repeat(() => app.request('GET', '/readyz'))).not.toContain(429);
  });

  it.each([
    ['ignore X-Forwarded-For without a proxy', '0', 429],
    ['use X-Forwarded-For of a trusted proxy', '1', 401],
  ])('by address %s', async (_, proxies, last) => {
    await start({ RATE_LIMIT_ADDRESS_PER_MINUTE: String(PER_MINUTE), TRUST_PROXY: proxies });
    let count = 0;
    const statuses = await repeat(() => {
      count += 1;
      return app.request('GET', listPath(), {
        token: null,
        headers: { 'x-forwarded-for': `198.51.100.${count}` },
      });
    });
    expect(statuses.at(-1)).toBe(last);
  });

  it('by address cannot be evaded by a forged X-Forwarded-For behind a trusted proxy', async () => {
    await start({ RATE_LIMIT_ADDRESS_PER_MINUTE: String(PER_MINUTE), TRUST_PROXY: '1' });
    let count = 0;
    const statuses = await repeat(() => {
      count += 1;
      return app.request('GET', listPath(), {
        token: null,
        headers: { 'x-forwarded-for': `10.0.0.${count}, 198.51.100.7` },
      });
    });
    expect(statuses).toEqual(limited(401));
  });

  it('by caller count each caller separately, across its tokens', async () => {
    await start({ RATE_LIMIT_PRINCIPAL_PER_MINUTE: String(PER_MINUTE) });
    const asAlice = async () =>
      app.request('GET', listPath(), { token: await app.tokenWith({ sub: 'alice' }) });
    expect(await repeat(asAlice)).toEqual(limited(200));
    expect((await asAlice()).headers.get('retry-after')).toMatch(/^\d+$/);
    const bob = await app.request('GET', listPath(), { token: await app.tokenWith({ sub: 'bob' }) });
    expect(bob.status).toBe(200);
    expect((await app.request('GET', listPath(), { token: null })).status).toBe(401);
  });

  it('of connection tests do not affect other operations', async () => {
    await start({ 'httpLimits.connectionTestsPerMinute': String(PER_MINUTE) });
    const test = () =>
      app.request('PATCH', connectionTestPath(), {
        body: { baseUrl: 'http://127.0.0.1:1/mcp', authorization: { type: 'NO_AUTH' } },
      });
    expect(await repeat(test)).toEqual(limited(200));
    expect((await test()).headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await app.request('GET', listPath())).status).toBe(200);
  });
});

async function repeat(send: () => Promise<TestResponse>): Promise<number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < PER_MINUTE + 2; count += 1) {
    statuses.push((await send()).status);
  }
  return statuses;
}

function limited(before: number): number[] {
  return [...Array<number>(PER_MINUTE).fill(before), 429, 429];
}
