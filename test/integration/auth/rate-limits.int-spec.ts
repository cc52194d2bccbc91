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
  it('refuses requests over the limit, with or without a valid token', async () => {
    await start({ RATE_LIMIT_ADDRESS_PER_MINUTE: '5' });
    for (let count = 0; count < 5; count += 1) {
      expect((await call(`${app.url}/any-caller`, count % 2 === 0 ? undefined : 'bad')).status).toBe(401);
    }
    expectTooMany(await call(`${app.url}/any-caller`), 'RATE_LIMIT_ADDRESS_PER_MINUTE', 5);
    expectTooMany(
      await call(`${app.url}/any-caller`, await issuer.sign()),
      'RATE_LIMIT_ADDRESS_PER_MINUTE',
      5,
    );
    expect((await call(`${app.url}/livez`)).status).toBe(200);
  });

  it('ignores X-Forwarded-For without a trusted proxy', async () => {
    await start({ RATE_LIMIT_ADDRESS_PER_MINUTE: '2' });
    await call(`${app.url}/any-caller`, undefined, from('203.0.113.1'));
    await call(`${app.url}/any-caller`, undefined, from('203.0.113.2'));
    expectTooMany(
      await call(`${app.url}/any-caller`, undefined, from('203.0.113.3')),
      'RATE_LIMIT_ADDRESS_PER_MINUTE',
      2,
    );
  });

  it('counts each client behind a trusted proxy, and a client cannot choose its address', async () => {
    await start({ RATE_LIMIT_ADDRESS_PER_MINUTE: '1' }, 1);
    expect((await call(`${app.url}/any-caller`, undefined, from('203.0.113.1'))).status).toBe(401);
    expect((await call(`${app.url}/any-caller`, undefined, from('203.0.113.2'))).status).toBe(401);
    expectTooMany(
      await call(`${app.url}/any-caller`, undefined, from('198.51.100.9, 203.0.113.1')),
      'RATE_LIMIT_ADDRESS_PER_MINUTE',
      1,
    );
  });

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
  it('counts the requests of a principal across its tokens', async () => {
    await start({ RATE_LIMIT_PRINCIPAL_PER_MINUTE: '3' });
    for (let count = 0; count < 3; count += 1) {
      expect((await call(`${app.url}/any-caller`, await issuer.sign({ sub: 'a' }))).status).toBe(200);
    }
    expectTooMany(
      await call(`${app.url}/any-caller`, await issuer.sign({ sub: 'a' })),
      'RATE_LIMIT_PRINCIPAL_PER_MINUTE',
      3,
    );
    expect((await call(`${app.url}/any-caller`, await issuer.sign({ sub: 'b' }))).status).toBe(200);
  });

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

  it('can be lower for a costly operation without affecting others', async () => {
    await start({ 'httpLimits.connectionTestsPerMinute': '2', RATE_LIMIT_PRINCIPAL_PER_MINUTE: '100' });
    const token = await issuer.sign();
    expect((await call(`${app.url}/costly`, token)).status).toBe(200);
    expect((await call(`${app.url}/costly`, token)).status).toBe(200);
    expectTooMany(await call(`${app.url}/costly`, token), 'connection-tests-per-minute', 2);
    expect((await call(`${app.url}/any-caller`, token)).status).toBe(200);
  });

  it('is disabled by 0', async () => {
    await start({ 'httpLimits.connectionTestsPerMinute': '0' });
    const token = await issuer.sign();
    const answers = await Promise.all(Array.from({ length: 200 }, () => call(`${app.url}/costly`, token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
