import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { StubIssuer } from '../../support/issuer.js';
import { call, startGuardedApp, type GuardedApp } from './guarded-app.js';

let issuer: StubIssuer;
let app: GuardedApp;

beforeAll(async () => {
  issuer = await StubIssuer.start();
});
afterAll(() => issuer?.stop());
afterEach(() => app?.stop());

async function start(settings: Record<string, string>, trustProxy = 0): Promise<void> {
  app = await startGuardedApp({ issuerUrl: issuer.url, settings, trustProxy });
}

type Answer = Awaited<ReturnType<typeof call>>;

function expectTooMany(answer: Answer, setting: string, limit: number): void {
  expect(answer.status).toBe(429);
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(answer.body).toEqual({
    error: 'Too Many Requests',
    message: 'Too many requests.',
    status: 429,
    details: `${setting} is ${limit}. Try again in ${seconds} seconds.`,
  });
}

const from = (address: string): RequestInit => ({ headers: { 'x-forwarded-for': address } });

describe('the limit by address', () => {
  it('counts a /64 network of IPv6 as one client', async () => {
    await start({ RATE_LIMIT_ADDRESS_PER_MINUTE: '1' }, 1);
    expect((await call(`${app.url}/any-caller`, undefined, from('2001:db8:0:1::1'))).status).toBe(401);
    expectTooMany(
      await call(`${app.url}/any-caller`, undefined, from('2001:db8:0:1:ffff::2')),
      'RATE_LIMIT_ADDRESS_PER_MINUTE',
      1,
    );
    expect((await call(`${app.url}/any-caller`, undefined, from('2001:db8:0:2::1'))).status).toBe(401);
  });
});

describe('the limit by caller', () => {
  it('is checked before the permission, so denied callers are limited too', async () => {
    await start({ RATE_LIMIT_PRINCIPAL_PER_MINUTE: '1' });
    const token = await issuer.sign({ scope: '' });
    expect((await call(`${app.url}/guarded`, token, { method: 'POST' })).status).toBe(403);
    expectTooMany(
      await call(`${app.url}/guarded`, token, { method: 'POST' }),
      'RATE_LIMIT_PRINCIPAL_PER_MINUTE',
      1,
    );
  });

  it('is disabled by 0', async () => {
    await start({ 'httpLimits.connectionTestsPerMinute': '0' });
    const token = await issuer.sign();
    const answers = await Promise.all(Array.from({ length: 200 }, () => call(`${app.url}/costly`, token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
