import { createSign, generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrustedIssuer } from '../../../../src/platform/auth/trusted-issuer.js';
import { tokenLimits } from '../../../../src/platform/auth/token.limits.js';
import { signingKey, StubIssuer } from '../../../../test/support/issuer.js';
import { call, startGuardedApp, type GuardedApp } from '../../../../test/integration/auth/guarded-app.js';
import { IN_TIME_MS } from '../../../../test/support/patience.js';

/** Non-default timeout, so that a test can tell whether it is applied. */
const LONGER_THAN_DEFAULT_MS = 4_500;

let issuer: StubIssuer;
let app: GuardedApp | undefined;

beforeEach(async () => {
  issuer = await StubIssuer.start();
});
afterEach(async () => {
  await app?.stop();
  app = undefined;
  await issuer.stop();
});

async function start(settings: Record<string, string> = {}): Promise<void> {
  app = await startGuardedApp({ issuerUrl: issuer.url, settings });
}

async function statusOf(token: string): Promise<number> {
  return (await call(`${app!.url}/any-caller`, token)).status;
}

/**
 * Calls with new tokens until a status is returned.
 * @returns elapsed milliseconds, or infinity if it was never returned
 */
async function timeUntil(status: number, pair = { issuer, app: app! }): Promise<number> {
  const begin = performance.now();
  while (performance.now() - begin < IN_TIME_MS) {
    if ((await call(`${pair.app.url}/any-caller`, await pair.issuer.sign())).status === status) {
      return performance.now() - begin;
    }
    await delay(50);
  }
  return Number.POSITIVE_INFINITY;
}

describe('key rotation', () => {
  it('fails no request at 100 per second, regardless of the published key used', async () => {
    await start({ 'tokenLimits.jwksCooldownSeconds': '5' });
    const statuses: Promise<number>[] = [];
    const oldKey = issuer.keys[0]!;
    for (let round = 0; round < 300; round += 1) {
      if (round === 100 || round === 200) {
        await issuer.rotate();
      }
      const key = round % 2 === 0 ? oldKey : issuer.keys.at(-1)!;
      statuses.push(issuer.sign({}, { key }).then(statusOf));
      await delay(10);
    }
    expect((await Promise.all(statuses)).filter((status) => status !== 200)).toEqual([]);
    expect(issuer.jwksRequests).toBe(3);
  });

  it('fetches a new key once for many concurrent callers', async () => {
    await start();
    await statusOf(await issuer.sign());
    await issuer.rotate();
    const tokens = await Promise.all(Array.from({ length: 50 }, () => issuer.sign()));
    const statuses = await Promise.all(tokens.map(statusOf));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(issuer.jwksRequests).toBe(2);
  });

  it('is not delayed by invalid key ids, which cost one key request per cooldown', async () => {
    await start({ 'tokenLimits.jwksCooldownSeconds': '1' });
    const junk = await Promise.all(
      Array.from({ length: 200 }, (_, index) => issuer.sign({}, { header: { kid: `junk-${index}` } })),
    );
    const begin = performance.now();
    const storm: Promise<number>[] = [];
    for (let round = 0; round < 3; round += 1) {
      storm.push(...junk.map(statusOf));
      if (round === 1) {
        await issuer.rotate();
        expect(await statusOf(await issuer.sign())).toBe(200);
      }
      await delay(300);
    }
    expect(new Set(await Promise.all(storm))).toEqual(new Set([401]));
    const coolDowns = Math.ceil((performance.now() - begin) / 1_000);
    expect(issuer.jwksRequests).toBeLessThanOrEqual(1 + coolDowns);
  });

  it('drops a retired key when the keys reach their maximum age', async () => {
    await start({ 'tokenLimits.jwksMaxAgeSeconds': '1' });
    const old = issuer.keys[0]!;
    expect(await statusOf(await issuer.sign({}, { key: old }))).toBe(200);
    await issuer.rotate({ retire: true });
    await delay(1_200);
    expect(await statusOf(await issuer.sign({}, { key: old }))).toBe(401);
    expect(await statusOf(await issuer.sign())).toBe(200);
  });
});

describe('a withdrawn key', () => {
  it('is rejected after the next key request, even for recently verified tokens', async () => {
    await start({ 'tokenLimits.jwksMaxAgeSeconds': '1' });
    const [withdrawn] = issuer.keys;
    const token = await issuer.sign();
    expect(await statusOf(token)).toBe(200);
    await issuer.rotate({ retire: true });
    const begin = performance.now();
    while ((await statusOf(token)) === 200 && performance.now() - begin < IN_TIME_MS) {
      await delay(20);
    }
    expect(performance.now() - begin).toBeLessThan(IN_TIME_MS);
    expect(await statusOf(await issuer.sign({}, { key: withdrawn! }))).toBe(401);
    expect(await statusOf(await issuer.sign())).toBe(200);
  });

  it('is detected within a minute', () => {
    // Leaves a few seconds for the request to the issuer, and more in tests.
    expect(tokenLimits.jwksMaxAgeSeconds).toBeLessThanOrEqual(50);
  });

  it('does not affect cached verifications while the keys are unchanged', async () => {
    await start({ 'tokenLimits.jwksMaxAgeSeconds': '1' });
    const { keys } = app!.nest.get(TrustedIssuer, { strict: false });
    expect(await statusOf(await issuer.sign())).toBe(200);
    await issuer.rotate();
    await expect.poll(() => keys.version).toBeGreaterThan(1);
    const { version } = keys;
    issuer.keys.reverse();
    const requests = issuer.jwksRequests;
    await expect.poll(() => issuer.jwksRequests).toBeGreaterThan(requests + 1);
    expect(keys.version).toBe(version);
  });
});

describe('an issuer that is down', () => {
  it('fails no request while the last good keys are valid', async () => {
    await start({ 'tokenLimits.jwksMaxAgeSeconds': '1', 'tokenLimits.jwksStaleSeconds': '60' });
    expect(await statusOf(await issuer.sign())).toBe(200);
    await issuer.stop();
    const end = performance.now() + 4_000;
    while (performance.now() < end) {
      expect(await statusOf(await issuer.sign())).toBe(200);
      await delay(20);
    }
  });

  it('causes 500, never 401, after the last good keys expire, until it recovers', async () => {
    const begin = performance.now();
    await start({ 'tokenLimits.jwksMaxAgeSeconds': '1', 'tokenLimits.jwksStaleSeconds': '1' });
    expect(await statusOf(await issuer.sign())).toBe(200);
    await issuer.stop();
    expect(await timeUntil(500)).toBeLessThan(IN_TIME_MS);
    expect(performance.now() - begin).toBeGreaterThan(2_000);
    await issuer.start();
    expect(await timeUntil(200)).toBeLessThan(IN_TIME_MS);
  });

  it('causes 500 for an unknown key id, which cannot be verified as invalid', async () => {
    await start();
    expect(await statusOf(await issuer.sign())).toBe(200);
    await issuer.stop();
    expect(await statusOf(await issuer.sign({}, { key: await signingKey() }))).toBe(500);
  });

  it('does not prevent the service from starting: 500 until it responds, then soon 200', async () => {
    await issuer.stop();
    await start();
    const answer = await call(`${app!.url}/any-caller`, await issuer.sign());
    expect(answer.status).toBe(500);
    expect(answer.headers.get('www-authenticate')).toBeNull();
    expect(JSON.stringify(answer.body)).not.toContain('127.0.0.1');
    expect((await call(`${app!.url}/livez`)).status).toBe(200);
    expect((await call(`${app!.url}/any-caller`)).status).toBe(401);
    await delay(2_500);
    await issuer.start();
    expect(await timeUntil(200)).toBeLessThan(IN_TIME_MS);
  });
});

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

type Fault = (issuer: StubIssuer) => void;

/** Faults of the key set are functions of the response, those of the discovery document its overrides. */
const inKeys =
  (answer: (response: ServerResponse) => void): Fault =>
  (issuer) => {
    issuer.answerKeys = answer;
  };
const inDiscovery =
  (overrides: Record<string, unknown>): Fault =>
  (issuer) => {
    issuer.discovery = overrides;
  };

const FAULTS: Record<string, Fault> = {
  'names another issuer': inDiscovery({ issuer: 'https://other.example' }),
  'adds a slash to its name': (issuer) => inDiscovery({ issuer: `${issuer.url}/` })(issuer),
  'has no key URL': inDiscovery({ jwks_uri: undefined }),
  'has an invalid key URL': inDiscovery({ jwks_uri: 'keys' }),
  'has a file URL for keys': inDiscovery({ jwks_uri: 'file:///etc/passwd' }),
  redirects: inKeys((response) => response.writeHead(302, { location: '/jwks?again' }).end()),
  'answers with an error': inKeys((response) => response.writeHead(503).end('{"keys":[]}')),
  'answers without keys': inKeys((response) => response.end('{"keys":[]}')),
  'answers null': inKeys((response) => response.end('null')),
  'answers with broken keys': inKeys((response) => response.end('{"keys":[1,null]}')),
  'answers with HTML': inKeys((response) => response.end('<html>')),
  'responds endlessly': inKeys((response) => {
    const write = (): void => {
      while (!response.destroyed && response.write(' '.repeat(65_536))) {
        // Write until the socket is full.
      }
    };
    response.on('drain', write);
    write();
  }),
  'answers with a gzip bomb': inKeys((response) => {
    response.setHeader('content-encoding', 'gzip').end(BOMB);
  }),
  'never answers': inKeys(() => undefined),
  drips: inKeys((response) => {
    const timer = setInterval(() => response.write(' '), 100);
    response.on('close', () => clearInterval(timer));
  }),
  'cuts the connection': inKeys((response) => response.destroy()),
};
const BOMB = gzipSync(Buffer.alloc(50_000_000, ' '));

describe.concurrent('a faulty issuer', () => {
  it.each(Object.entries(FAULTS))('%s: 500 in time, 200 soon after it is fixed', async (_name, fault) => {
    const other = await StubIssuer.start();
    fault(other);
    const own = await startGuardedApp({ issuerUrl: other.url, settings: { 'tokenLimits.timeoutMs': '500' } });
    const begin = performance.now();
    expect((await call(`${own.url}/any-caller`, await other.sign())).status).toBe(500);
    expect(performance.now() - begin).toBeLessThan(IN_TIME_MS);
    other.discovery = {};
    other.answerKeys = undefined;
    expect(await timeUntil(200, { issuer: other, app: own })).toBeLessThan(IN_TIME_MS);
    await own.stop();
    await other.stop();
  });

  it('times out after tokenLimits.timeoutMs', async () => {
    const other = await StubIssuer.start();
    FAULTS['never answers']?.(other);
    const begin = performance.now();
    const settings = { 'tokenLimits.timeoutMs': String(LONGER_THAN_DEFAULT_MS) };
    const own = await startGuardedApp({ issuerUrl: other.url, settings });
    expect((await call(`${own.url}/any-caller`, await other.sign())).status).toBe(500);
    const tookMs = performance.now() - begin;
    // A timer may be a few milliseconds early.
    expect(tookMs).toBeGreaterThan(LONGER_THAN_DEFAULT_MS - 50);
    expect(tookMs).toBeLessThan(IN_TIME_MS);
    await own.stop();
    await other.stop();
  });
});

describe('an issuer that becomes faulty', () => {
  it('does not replace the good keys', async () => {
    await start({ 'tokenLimits.jwksMaxAgeSeconds': '1' });
    expect(await statusOf(await issuer.sign())).toBe(200);
    issuer.answerKeys = (response) => response.end('{"keys":[]}');
    await delay(1_500);
    expect(await statusOf(await issuer.sign())).toBe(200);
  });

  it('cannot exhaust memory', async () => {
    await start({ 'tokenLimits.jwksMaxAgeSeconds': '1' });
    const before = process.memoryUsage().rss;
    FAULTS['answers with a gzip bomb']?.(issuer);
    await delay(2_500);
    expect(issuer.jwksRequests).toBeGreaterThan(1);
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
  });
});

describe('an issuer', () => {
  it('that is slow makes requests wait for the first keys instead of failing', async () => {
    issuer.delayMs = 300;
    await start();
    expect(await statusOf(await issuer.sign())).toBe(200);
  });

  it('that publishes a short RSA key has its tokens rejected', async () => {
    const pair = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid: 'short', alg: 'RS256', use: 'sig' };
    issuer.answerKeys = (response) => response.end(JSON.stringify({ keys: [jwk] }));
    await start();
    const input = `${encode({ alg: 'RS256', kid: 'short', typ: 'at+jwt' })}.${encode(issuer.claims())}`;
    const signature = createSign('sha256').update(input).sign(pair.privateKey, 'base64url');
    expect(await statusOf(`${input}.${signature}`)).toBe(401);
  });
});
