import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readSigningKey } from './signing-key.js';

const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey;
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const RSA = rsa(2_048);

describe('readSigningKey', () => {
  it.each([
    ['RS256', RSA],
    ['ES256', ec('P-256')],
    ['ES384', ec('P-384')],
    ['ES512', ec('P-521')],
    ['EdDSA', generateKeyPairSync('ed25519').privateKey],
  ])('reads a key for %s in PEM and as JWK, with the same result', (algorithm, key) => {
    const pem = readSigningKey(key.export({ type: 'pkcs8', format: 'pem' }).toString());
    expect(pem).toMatchObject({ algorithm, keyId: null });
    const jwk = readSigningKey(JSON.stringify({ ...key.export({ format: 'jwk' }), kid: 'one' }));
    expect(jwk).toEqual({ ...pem, keyId: 'one' });
    const digest = algorithm === 'EdDSA' ? null : 'sha256';
    const signature = sign(digest, Buffer.from('text'), pem?.privateKey ?? '');
    expect(verify(digest, Buffer.from('text'), createPublicKey(key), signature)).toBe(true);
  });

  it.each(['k'.repeat(256), 'two\nlines'])('rejects a JWK with a key id that cannot be stored', (kid) => {
    expect(readSigningKey(JSON.stringify({ ...RSA.export({ format: 'jwk' }), kid }))).toBeUndefined();
  });

  it('reads the older forms of PEM', () => {
    expect(readSigningKey(RSA.export({ type: 'pkcs1', format: 'pem' }).toString())?.algorithm).toBe('RS256');
    const key = ec('P-256').export({ type: 'sec1', format: 'pem' }).toString();
    expect(readSigningKey(key)?.algorithm).toBe('ES256');
  });

  it('uses the algorithm that a JWK names', () => {
    const jwk = RSA.export({ format: 'jwk' });
    expect(readSigningKey(JSON.stringify({ ...jwk, alg: 'PS384' }))?.algorithm).toBe('PS384');
  });

  const pem = (key: ReturnType<typeof rsa>, rest = {}) =>
    key.export({ type: 'pkcs8', format: 'pem', ...rest }).toString();
  it.each([
    ['nothing', () => ''],
    ['prose', () => 'a key'],
    ['a public key', () => createPublicKey(RSA).export({ type: 'spki', format: 'pem' }).toString()],
    ['the JWK of a public key', () => JSON.stringify(createPublicKey(RSA).export({ format: 'jwk' }))],
    ['a key with a password', () => pem(RSA, { cipher: 'aes-256-cbc', passphrase: 'word' })],
    ['a short RSA key', () => pem(rsa(1_024))],
    ['another curve', () => pem(ec('secp256k1'))],
    ['a key for key exchange', () => pem(generateKeyPairSync('x25519').privateKey)],
    ['a symmetric JWK', () => JSON.stringify({ kty: 'oct', k: 'c2VjcmV0', alg: 'HS256' })],
    [
      'a JWK for another algorithm',
      () => JSON.stringify({ ...ec('P-256').export({ format: 'jwk' }), alg: 'ES384' }),
    ],
    ['a JWK for encryption', () => JSON.stringify({ ...RSA.export({ format: 'jwk' }), use: 'enc' })],
    ['JSON that is not an object', () => '[1]'],
    ['a text that is too long', () => `${pem(RSA)}${' '.repeat(20_000)}`],
  ])('rejects %s', (_what, text) => {
    expect(readSigningKey(text())).toBeUndefined();
  });
});
