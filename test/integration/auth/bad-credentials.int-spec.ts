import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { exportSPKI, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { oidcIssuer } from '../../../src/common/auth/oidc-issuer.js';
import { TrustedIssuer } from '../../../src/common/auth/trusted-issuer.js';
import type { Env } from '../../../src/config/env.js';
import { AUDIENCE, signingKey, StubIssuer, type SigningKey } from '../../support/issuer.js';
import { call, post, seen, startGuardedApp, type GuardedApp } from './guarded-app.js';

let issuer: StubIssuer;
let rsaKey: SigningKey;
let app: GuardedApp;
let strictApp: GuardedApp;

/** An issuer after RFC 9068 whose tokens are taken from one client only. */
function strict(env: Env): TrustedIssuer {
  const { rules, keys } = oidcIssuer(env);
  return new TrustedIssuer({ ...rules, tokenTypes: ['at+jwt'], authorizedParties: ['web-client'] }, keys);
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

const seconds = (offset: number): number => Math.floor(Date.now() / 1_000) + offset;
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

async function hmacWithPublicKey(): Promise<string> {
  const input = `${encode({ alg: 'HS256', kid: rsaKey.kid, typ: 'at+jwt' })}.${encode(issuer.claims())}`;
  const signature = createHmac('sha256', await exportSPKI(rsaKey.publicKey)).update(input);
  return `${input}.${signature.digest('base64url')}`;
}

async function selfSigned(header: (key: SigningKey) => Record<string, unknown>): Promise<string> {
  const key = await signingKey();
  return issuer.sign({}, { key, header: header(key) });
}

function edit(token: string, part: number, change: (text: string) => string): string {
  return token
    .split('.')
    .map((text, index) => (index === part ? change(text) : text))
    .join('.');
}

/** Another character whose bits differ from the first bit on, in the middle of the text. */
const flipMiddle = (text: string): string => {
  const at = Math.floor(text.length / 2);
  return text.slice(0, at) + (text[at] === 'A' ? 'h' : 'A') + text.slice(at + 1);
};

const badTokens: Record<string, () => Promise<string>> = {
  expired: () => issuer.sign({ iat: seconds(-600), exp: seconds(-60) }),
  'nbf in the future': () => issuer.sign({ nbf: seconds(120) }),
  'iat in the future': () => issuer.sign({ iat: seconds(120) }),
  'iat after exp': () => issuer.sign({ iat: seconds(20), exp: seconds(10) }),
  'another issuer': () => issuer.sign({ iss: `${issuer.url}/other` }),
  'no issuer': () => issuer.sign({ iss: undefined }),
  'another audience': () => issuer.sign({ aud: 'urn:other' }),
  'no audience': () => issuer.sign({ aud: undefined }),
  'alg none': async () => `${encode({ alg: 'none', typ: 'at+jwt' })}.${encode(issuer.claims())}.`,
  'alg none with a signature': async () =>
    `${encode({ alg: 'none', typ: 'at+jwt' })}.${encode(issuer.claims())}.AAAA`,
  'HS256 with the public key as secret': hmacWithPublicKey,
  'another key under a known kid': async () =>
    issuer.sign({}, { key: await signingKey('ES256', issuer.keys.at(-1)!.kid) }),
  'an unknown kid': async () => issuer.sign({}, { key: await signingKey() }),
  'a kid that is not text': () => issuer.sign({}, { header: { kid: 7 } }),
  'alg of another key': () => issuer.sign({}, { header: { kid: rsaKey.kid } }),
  'its own key (jwk)': () => selfSigned(({ publicJwk }) => ({ jwk: publicJwk })),
  'a key address (jku)': () => issuer.sign({}, { header: { jku: `${issuer.url}/jwks` } }),
  'a certificate address (x5u)': () => issuer.sign({}, { header: { x5u: `${issuer.url}/cert` } }),
  'a critical extension': () => critical(),
  'an ID token (at_hash)': () => issuer.sign({ at_hash: 'x', nonce: 'n' }),
  'an ID token (Keycloak)': () => issuer.sign({ typ: 'ID' }, { header: { typ: 'JWT' } }),
  'a refresh token (Keycloak)': () => issuer.sign({ typ: 'Refresh' }, { header: { typ: 'JWT' } }),
  'an ID token (Cognito)': () => issuer.sign({ token_use: 'id' }),
  'a logout token': () => issuer.sign({}, { header: { typ: 'logout+jwt' } }),
  'no exp': () => issuer.sign({ exp: undefined }),
  'no iat': () => issuer.sign({ iat: undefined }),
  'no sub': () => issuer.sign({ sub: undefined }),
  'an empty sub': () => issuer.sign({ sub: '' }),
  'a sub that is not text': () => issuer.sign({ sub: 7 as unknown as string }),
  truncated: async () => (await issuer.sign()).slice(0, -1),
  'without its signature': async () => edit(await issuer.sign(), 2, () => ''),
  'two parts': async () => (await issuer.sign()).split('.').slice(0, 2).join('.'),
  'five parts': async () => `${await issuer.sign()}.AAAA.AAAA`,
  'a flipped byte in the header': async () => edit(await issuer.sign(), 0, flipMiddle),
  'a flipped byte in the payload': async () => edit(await issuer.sign(), 1, flipMiddle),
  'a flipped byte in the signature': async () => edit(await issuer.sign(), 2, flipMiddle),
  'longer than allowed': () => issuer.sign({ padding: 'x'.repeat(9_000) }),
  'bound to a key (DPoP)': () => issuer.sign({ cnf: { jkt: 'thumbprint' } }),
  'not a token': async () => 'not-a-token',
};

async function critical(): Promise<string> {
  const key = issuer.keys.at(-1)!;
  const header = { alg: key.alg, kid: key.kid, typ: 'at+jwt', crit: ['svc'], svc: true };
  return new SignJWT(issuer.claims())
    .setProtectedHeader(header)
    .sign(key.privateKey, { crit: { svc: true } });
}

function expectUnauthorized(answer: Awaited<ReturnType<typeof call>>): void {
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  expect(answer.body).toEqual({
    error: 'Unauthorized',
    message: 'Authentication required or failed.',
    status: 401,
    details: expect.any(String) as string,
  });
  expect(seen).toMatchObject({ bodies: 0, handlers: 0 });
}

describe('a request with a bad credential', () => {
  it.each(Object.entries(badTokens))('is refused before its body is parsed: %s', async (_name, make) => {
    expectUnauthorized(await call(`${app.url}/guarded`, await make(), post));
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
    );
    expectUnauthorized(await call(`${app.url}/guarded`, 'a'.repeat(15_000), post));
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

  it.each([
    ['broken JSON', { ...post, body: '{' }],
    ['a body over the limit', { ...post, body: JSON.stringify('x'.repeat(300_000)) }],
    ['another content type', { ...post, headers: { 'content-type': 'text/plain' } }],
  ])('is 401, not 400, with %s', async (_name, init) => {
    expectUnauthorized(await call(`${app.url}/guarded`, undefined, init));
  });

  it('is 401, not 404, on an unknown path', async () => {
    expectUnauthorized(await call(`${app.url}/nowhere`));
  });

  it('does not get past a case or slash variant of a public path', async () => {
    expectUnauthorized(await call(`${app.url}/LIVEZ`));
    expectUnauthorized(await call(`${app.url}/docsx`));
  });

  it('is refused by the guard when a path is public but its route is not', async () => {
    const answer = await call(`${app.url}/metrics`);
    expect(answer.status).toBe(401);
    expect(seen.handlers).toBe(0);
  });

  it('leaves a token without kid ambiguous among several keys of its algorithm: 401, not 500', async () => {
    const before = issuer.keys;
    issuer.keys = [await signingKey(), await signingKey()];
    const other = await startGuardedApp({ issuerUrl: issuer.url });
    const token = await issuer.sign({}, { header: { kid: undefined } });
    expectUnauthorized(await call(`${other.url}/guarded`, token, post));
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
    expectUnauthorized(await call(`${strictApp.url}/guarded`, await issuer.sign(claims, { header }), post));
  });

  it.each([
    ['at+jwt', { azp: 'web-client' }, { typ: 'at+jwt' }],
    ['application/AT+JWT', { client_id: 'web-client' }, { typ: 'application/AT+JWT' }],
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

  it('stops being served when it expires, although it was verified before', async () => {
    const quick = await startGuardedApp({
      issuerUrl: issuer.url,
      settings: { OIDC_CLOCK_TOLERANCE_SECONDS: '0' },
    });
    const token = await issuer.sign({ exp: seconds(2) });
    expect((await call(`${quick.url}/any-caller`, token)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    const answer = await call(`${quick.url}/any-caller`, token);
    expect(answer).toMatchObject({ status: 401, body: { details: 'The access token has expired.' } });
    await quick.stop();
  });

  it('needs no token on a public route', async () => {
    expect((await call(`${app.url}/livez`)).status).toBe(200);
  });
});
