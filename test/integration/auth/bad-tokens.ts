import { createHmac } from 'node:crypto';
import { exportSPKI, SignJWT } from 'jose';
import { signingKey, type StubIssuer, type SigningKey } from '../../support/issuer.js';

/** The trusted issuer, and an RS256 key that it publishes in addition to its signing key. */
export interface Parties {
  readonly issuer: StubIssuer;
  readonly rsaKey: SigningKey;
}

/** Returns the Unix time in seconds, `offset` seconds from now. */
export const seconds = (offset: number): number => Math.floor(Date.now() / 1_000) + offset;
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

async function hmacWithPublicKey({ issuer, rsaKey }: Parties): Promise<string> {
  const input = `${encode({ alg: 'HS256', kid: rsaKey.kid, typ: 'at+jwt' })}.${encode(issuer.claims())}`;
  const signature = createHmac('sha256', await exportSPKI(rsaKey.publicKey)).update(input);
  return `${input}.${signature.digest('base64url')}`;
}

async function selfSigned(
  issuer: StubIssuer,
  header: (key: SigningKey) => Record<string, unknown>,
): Promise<string> {
  const key = await signingKey();
  return issuer.sign({}, { key, header: header(key) });
}

function edit(token: string, part: number, change: (text: string) => string): string {
  return token
    .split('.')
    .map((text, index) => (index === part ? change(text) : text))
    .join('.');
}

/** Replaces the middle character of a base64url text with one whose first bit differs. */
const flipMiddle = (text: string): string => {
  const at = Math.floor(text.length / 2);
  return text.slice(0, at) + (text[at] === 'A' ? 'h' : 'A') + text.slice(at + 1);
};

/** Creates every kind of token that must be refused, keyed by its defect. */
export const BAD_TOKENS: Record<string, (parties: Parties) => Promise<string>> = {
  expired: ({ issuer }) => issuer.sign({ iat: seconds(-600), exp: seconds(-60) }),
  'nbf in the future': ({ issuer }) => issuer.sign({ nbf: seconds(120) }),
  'iat in the future': ({ issuer }) => issuer.sign({ iat: seconds(120) }),
  'iat after exp': ({ issuer }) => issuer.sign({ iat: seconds(20), exp: seconds(10) }),
  'another issuer': ({ issuer }) => issuer.sign({ iss: `${issuer.url}/other` }),
  'no issuer': ({ issuer }) => issuer.sign({ iss: undefined }),
  'another audience': ({ issuer }) => issuer.sign({ aud: 'urn:other' }),
  'no audience': ({ issuer }) => issuer.sign({ aud: undefined }),
  'alg none': async ({ issuer }) => `${encode({ alg: 'none', typ: 'at+jwt' })}.${encode(issuer.claims())}.`,
  'alg none with a signature': async ({ issuer }) =>
    `${encode({ alg: 'none', typ: 'at+jwt' })}.${encode(issuer.claims())}.AAAA`,
  'HS256 with the public key as secret': hmacWithPublicKey,
  'another key under a known kid': async ({ issuer }) =>
    issuer.sign({}, { key: await signingKey('ES256', issuer.keys.at(-1)!.kid) }),
  'an unknown kid': async ({ issuer }) => issuer.sign({}, { key: await signingKey() }),
  'a kid that is not text': ({ issuer }) => issuer.sign({}, { header: { kid: 7 } }),
  'alg of another key': ({ issuer, rsaKey }) => issuer.sign({}, { header: { kid: rsaKey.kid } }),
  'its own key (jwk)': ({ issuer }) => selfSigned(issuer, ({ publicJwk }) => ({ jwk: publicJwk })),
  'a key address (jku)': ({ issuer }) => issuer.sign({}, { header: { jku: `${issuer.url}/jwks` } }),
  'a certificate address (x5u)': ({ issuer }) => issuer.sign({}, { header: { x5u: `${issuer.url}/cert` } }),
  'a critical extension': ({ issuer }) => critical(issuer),
  'an ID token (at_hash)': ({ issuer }) => issuer.sign({ at_hash: 'x', nonce: 'n' }),
  'an ID token (nonce)': ({ issuer }) => issuer.sign({ nonce: 'n' }, { header: { typ: 'JWT' } }),
  'an ID token (nonce, no typ)': ({ issuer }) => issuer.sign({ nonce: '' }, { header: { typ: undefined } }),
  'an ID token (Keycloak)': ({ issuer }) => issuer.sign({ typ: 'ID' }, { header: { typ: 'JWT' } }),
  'a refresh token (Keycloak)': ({ issuer }) => issuer.sign({ typ: 'Refresh' }, { header: { typ: 'JWT' } }),
  'an ID token (Cognito)': ({ issuer }) => issuer.sign({ token_use: 'id' }),
  'a logout token': ({ issuer }) => issuer.sign({}, { header: { typ: 'logout+jwt' } }),
  'no exp': ({ issuer }) => issuer.sign({ exp: undefined }),
  'no iat': ({ issuer }) => issuer.sign({ iat: undefined }),
  'no sub': ({ issuer }) => issuer.sign({ sub: undefined }),
  'an empty sub': ({ issuer }) => issuer.sign({ sub: '' }),
  'a sub that is not text': ({ issuer }) => issuer.sign({ sub: 7 as unknown as string }),
  truncated: async ({ issuer }) => (await issuer.sign()).slice(0, -1),
  'without its signature': async ({ issuer }) => edit(await issuer.sign(), 2, () => ''),
  'two parts': async ({ issuer }) => (await issuer.sign()).split('.').slice(0, 2).join('.'),
  'five parts': async ({ issuer }) => `${await issuer.sign()}.AAAA.AAAA`,
  'a flipped byte in the header': async ({ issuer }) => edit(await issuer.sign(), 0, flipMiddle),
  'a flipped byte in the payload': async ({ issuer }) => edit(await issuer.sign(), 1, flipMiddle),
  'a flipped byte in the signature': async ({ issuer }) => edit(await issuer.sign(), 2, flipMiddle),
  'longer than allowed': ({ issuer }) => issuer.sign({ padding: 'x'.repeat(9_000) }),
  'bound to a key (DPoP)': ({ issuer }) => issuer.sign({ cnf: { jkt: 'thumbprint' } }),
  'not a token': async () => 'not-a-token',
};

async function critical(issuer: StubIssuer): Promise<string> {
  const key = issuer.keys.at(-1)!;
  const header = { alg: key.alg, kid: key.kid, typ: 'at+jwt', crit: ['svc'], svc: true };
  return new SignJWT(issuer.claims())
    .setProtectedHeader(header)
    .sign(key.privateKey, { crit: { svc: true } });
}
