import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { isRsaSize } from '../rsa-size.js';

/** Longest text of certificates, in characters. Columns hold 65,535 bytes. */
export const CERTIFICATES_MAX_LENGTH = 32_768;
/** Longest text of a private key, in characters: an RSA key of 4,096 bits has 3,300. */
export const PRIVATE_KEY_MAX_LENGTH = 16_384;
/** Each one is read at each handshake. */
const MAX_CERTIFICATES = 50;

/** The labels that OpenSSL takes for a certificate (RFC 7468, section 5). Between them may stand any text. */
const CERTIFICATES = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^]*?-----END \1-----/g;

/**
 * Reads all certificates of a text.
 * @returns undefined when there is none, one is broken, or there are more than 50: TLS would leave a broken one out without a word
 */
export function readCertificates(pem: string): [X509Certificate, ...X509Certificate[]] | undefined {
  // What is stored is a little longer than what was sent.
  if (pem.length > 2 * CERTIFICATES_MAX_LENGTH) {
    return undefined;
  }
  const blocks = pem.match(CERTIFICATES) ?? [];
  if (blocks.length > MAX_CERTIFICATES) {
    return undefined;
  }
  try {
    const [first, ...others] = blocks.map(readCertificate);
    return first === undefined ? undefined : [first, ...others];
  } catch {
    return undefined;
  }
}

/** @throws Error for what is no certificate, or has dates that are none */
function readCertificate(pem: string): X509Certificate {
  const certificate = new X509Certificate(pem);
  if ([certificate.validFrom, certificate.validTo].some((date) => Number.isNaN(Date.parse(date)))) {
    throw new RangeError('no date');
  }
  return certificate;
}

/** The rule that a text of certificates breaks; undefined when it breaks none. */
export function certificatesRule(value: unknown): string | undefined {
  if (typeof value !== 'string' || readCertificates(value) === undefined) {
    return 'must be 1 to 50 certificates in PEM format';
  }
  return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(value) ? 'must not hold a private key' : undefined;
}

/**
 * Reads an unencrypted private key (RFC 7468, section 10, and the older forms of OpenSSL). One of RSA has 2,048 to 4,096 bits: a larger
 * one takes the thread that signs for seconds.
 * @returns undefined when it is none
 */
export function readPrivateKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey({ key: pem, format: 'pem' });
    return isRsaSize(key.asymmetricKeyDetails?.modulusLength) ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a private key is that of the first certificate of a text, and both are strong enough for TLS. */
export function isKeyOf(key: string, certificates: string): boolean {
  const [read, chain] = [readPrivateKey(key), readCertificates(certificates)];
  if (read === undefined || chain?.[0].checkPrivateKey(read) !== true) {
    return false;
  }
  try {
    createSecureContext({ key, cert: certificates });
    return true;
  } catch {
    return false;
  }
}

/** Certificates of a checked text in one form, without the text between them: equal for equal certificates. */
export function canonicalCertificates(pem: string): string {
  return (readCertificates(pem) ?? []).map(String).join('');
}

/** A checked private key in one form (PKCS #8): equal for equal keys. */
export function canonicalKey(pem: string): string {
  return readPrivateKey(pem)?.export({ type: 'pkcs8', format: 'pem' }).toString() ?? '';
}
