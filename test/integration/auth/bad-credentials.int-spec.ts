import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { oidcIssuer } from '../../../src/platform/auth/oidc-issuer.js';
import { TrustedIssuer } from '../../../src/platform/auth/trusted-issuer.js';
import type { Env } from '../../../src/platform/config/env.js';
import { AUDIENCE, signingKey, StubIssuer, type SigningKey } from '../../support/issuer.js';
import { BAD_TOKENS, seconds } from './bad-tokens.js';
import { call, post, seen, startGuardedApp, type GuardedApp } from './guarded-app.js';

let issuer: StubIssuer;
let rsaKey: SigningKey;
let app: GuardedApp;
let strictApp: GuardedApp;

/** Trusts an issuer of RFC 9068 tokens, but only tokens of one client. */
function strict(env: Env): TrustedIssuer {
  const { rules, keys } = oidcIssuer(env);
  return new TrustedIssuer(
    { ...rules, tokenTypes: ['at+jwt'], requiredClaims: new Map([['azp', new Set(['web-client'])]]) },
    keys,
  );
}

beforeAll(async () => {
  issuer = await StubIssuer.start();
  rsaKey = await signingKey('RS256');
  issuer.keys = [rsaKey, ...issuer.keys];
  app = await startGuardedApp({ issuerUrl: issuer.url });
  strictApp = await startGuardedApp({ issuerUrl: issuer.url, trusted: strict });
});
afterAll(async () => {
  await app?.stop();
  await strictApp?.stop();
  await issuer?.stop();
});
beforeEach(() => {
  seen.bodies = 0;
  seen.handlers = 0;
});

const INVALID_TOKEN = 'Bearer error="invalid_token"';

function expectUnauthorized(answer: Awaited<ReturnType<typeof call>>, challenge = 'Bearer'): void {
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toBe(challenge);
  expect(answer.body).toEqual({
    error: 'Unauthorized',
    message: 'Authentication required or failed.',
    status: 401,
    details: expect.any(String) as string,
  });
  expect(seen).toMatchObject({ bodies: 0, handlers: 0 });
}

describe('a request with a bad credential', () => {
  it.each(Object.entries(BAD_TOKENS))('is refused before its body is parsed: %s', async (_name, make) => {
    const token = await make({ issuer, rsaKey });
    expectUnauthorized(await call(`${app.url}/guarded`, token, post), INVALID_TOKEN);
  });

  it.each([
    ['no header', {}],
    ['an empty header', { authorization: '' }],
    ['no token', { authorization: 'Bearer' }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNzd29yZA==' }],
    ['the token without scheme', { authorization: 'abc.def.ghi' }],
  ])('is refused before its body is parsed: %s', async (_name, headers) => {
    expectUnauthorized(
      await call(`${app.url}/guarded`, undefined, { ...post, headers: { ...post.headers, ...headers } }),
    );
  });

  it('is refused with text behind the token', async () => {
    expectUnauthorized(await call(`${app.url}/guarded`, `${await issuer.sign()} more`, post));
  });

  it('is refused with a token of more than 20 KB', async () => {
    expectUnauthorized(
      await call(`${app.url}/guarded`, await issuer.sign({ padding: 'x'.repeat(11_000) }), post),
      INVALID_TOKEN,
    );
    expectUnauthorized(await call(`${app.url}/guarded`, 'a'.repeat(15_000), post), INVALID_TOKEN);
  });

  it.each([
    ['the same token twice', (good: string) => [good, good]],
    ['a bad token behind a good one', (good: string) => [good, 'bad']],
  ])('is refused with two Authorization headers: %s', async (_name, tokens) => {
    const good = await issuer.sign();
    const status = await new Promise((resolve, reject) => {
      const headers = tokens(good).flatMap((token) => ['Authorization', `Bearer ${token}`]);
      const request = httpRequest(`${app.url}/guarded`, {
        method: 'POST',
        headers: ['Host', new URL(app.url).host, 'Content-Length', '0', ...headers],
      });
      request
        .on('response', (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(401);
    expect(seen).toMatchObject({ bodies: 0, handlers: 0 });
  });

  it('is refused on a variant of a public path', async () => {
    expectUnauthorized(await call(`${app.url}/LIVEZ`));
    expectUnauthorized(await call(`${app.url}/docsx`));
  });

  it('is refused by the guard when a path is public but its route is not', async () => {
    const answer = await call(`${app.url}/metrics`);
    expect(answer.status).toBe(401);
    expect(seen.handlers).toBe(0);
  });

  it('is 401, not 500, when a token without kid matches several keys of its algorithm', async () => {
    const before = issuer.keys;
    issuer.keys = [await signingKey(), await signingKey()];
    const other = await startGuardedApp({ issuerUrl: issuer.url });
    const token = await issuer.sign({}, { header: { kid: undefined } });
    expectUnauthorized(await call(`${other.url}/guarded`, token, post), INVALID_TOKEN);
    issuer.keys = before;
    await other.stop();
  });
});

describe('an issuer with strict rules', () => {
  it.each([
    ['typ JWT', { azp: 'web-client' }, { typ: 'JWT' }],
    ['no typ', { azp: 'web-client' }, { typ: undefined }],
    ['another azp', { azp: 'other-client' }, {}],
    ['no client', {}, {}],
  ])('refuses %s', async (_name, claims, header) => {
    const token = await issuer.sign(claims, { header });
    expectUnauthorized(await call(`${strictApp.url}/guarded`, token, post), INVALID_TOKEN);
  });

  it.each([
    ['at+jwt', { azp: 'web-client' }, { typ: 'at+jwt' }],
    ['application/AT+JWT', { azp: 'web-client' }, { typ: 'application/AT+JWT' }],
  ])('accepts %s of the allowed client', async (_name, claims, header) => {
    const answer = await call(`${strictApp.url}/guarded`, await issuer.sign(claims, { header }), post);
    expect(answer.status).toBe(201);
  });
});

describe('a request with a good token', () => {
  it.each(['ES256', 'RS256', 'PS256'])('is served: %s', async (alg) => {
    const before = issuer.keys;
    await issuer.rotate({ alg });
    const answer = await call(`${app.url}/guarded`, await issuer.sign(), post);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ issuer: issuer.url, subject: 'user-1', body: { a: 1 } });
    issuer.keys = before;
  });

  it.each([
    ['typ at+jwt', {}, { typ: 'at+jwt' }],
    ['typ application/at+jwt', {}, { typ: 'application/at+jwt' }],
    ['the claim typ Bearer (Keycloak before 25)', { typ: 'Bearer' }, { typ: 'JWT' }],
    ['the claim token_use access (Cognito)', { token_use: 'access' }, { typ: undefined }],
  ])('is served with a nonce if it is marked as an access token: %s', async (_name, claims, header) => {
    const token = await issuer.sign({ ...claims, nonce: 'n' }, { header });
    expect((await call(`${app.url}/guarded`, token, post)).status).toBe(201);
  });

  it('is served with several audiences and a lower-case scheme', async () => {
    const token = await issuer.sign({ aud: ['urn:other', AUDIENCE] });
    const headers = { ...post.headers, authorization: `bearer ${token}` };
    expect((await call(`${app.url}/guarded`, undefined, { ...post, headers })).status).toBe(201);
  });

  it('tolerates 25 seconds of clock difference', async () => {
    for (const claims of [
      { iat: seconds(25), nbf: seconds(25) },
      { iat: seconds(-600), exp: seconds(-25) },
    ]) {
      expect((await call(`${app.url}/guarded`, await issuer.sign(claims), post)).status).toBe(201);
    }
  });

  it('is refused once it expires, even if it was verified before', async () => {
    const quick = await startGuardedApp({
      issuerUrl: issuer.url,
      settings: { 'tokenLimits.clockToleranceSeconds': '0' },
    });
    const token = await issuer.sign({ exp: seconds(2) });
    expect((await call(`${quick.url}/any-caller`, token)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    const answer = await call(`${quick.url}/any-caller`, token);
    expect(answer).toMatchObject({ status: 401, body: { details: 'The access token has expired.' } });
    await quick.stop();
  });

  it('is attributed to its own caller among concurrent requests', async () => {
    const subjects = Array.from({ length: 100 }, (_, index) => `user-${index}`);
    const tokens = await Promise.all(subjects.map((sub) => issuer.sign({ sub })));
    for (const round of ['verified', 'remembered']) {
      const answers = await Promise.all(tokens.map((token) => call(`${app.url}/any-caller`, token)));
      expect({ round, subjects: answers.map(({ body }) => body['subject']) }).toEqual({ round, subjects });
    }
  });

  it('needs no token on a public route', async () => {
    expect((await call(`${app.url}/livez`)).status).toBe(200);
  });
});

describe('a claim that is required', () => {
  const statuses = async (claims: string, tokens: Record<string, unknown>[]): Promise<number[]> => {
    const strictly = await startGuardedApp({
      issuerUrl: issuer.url,
      settings: { OIDC_REQUIRED_CLAIMS: claims },
    });
    const answers = [];
    for (const token of tokens) {
      answers.push((await call(`${strictly.url}/any-caller`, await issuer.sign(token))).status);
    }
    await strictly.stop();
    return answers;
  };

  it('must be present with its value', async () => {
    const tokens = [{}, { token_use: 'id' }, { token_use: ['access'] }, { token_use: 'access' }];
    expect(await statuses('token_use=access', tokens)).toEqual([401, 401, 401, 200]);
  });

  it('may have one of several values, in addition to other required claims', async () => {
    const tokens = [
      { tier: 'gold' },
      { tier: 'gold', realm: ['one', 'two'] },
      { tier: 'silver', realm: 'two' },
      { tier: 'lead', realm: 'two' },
      { tier: 'gold', realm: 'three' },
      { tier: { gold: true }, realm: 'two' },
    ];
    expect(await statuses('tier=gold, tier=silver, realm=two', tokens)).toEqual([
      401, 200, 200, 401, 401, 401,
    ]);
  });

  it('is not satisfied by a property that every object inherits', async () => {
    expect(await statuses('constructor=x', [{}])).toEqual([401]);
  });
});
