import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EnvError } from '../../config/env.js';
import { codeOf } from '../../config/start.error.js';

/** The labels that OpenSSL takes for a certificate. */
const CERTIFICATES = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^]*?-----END \1-----/g;

/**
 * Reads the certificates of an authority that an operator names.
 * @param file value of TLS_CA_FILE
 * @returns the file's text, PEM
 * @throws EnvError when the file cannot be read, or holds no certificate or a broken one. TLS would leave a broken one
 * out, and say of every server that nobody knows its authority
 */
export function readAuthority(file: string): string {
  const text = readText(file);
  const certificates = text.match(CERTIFICATES) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate)) {
    throw new EnvError([`TLS_CA_FILE must name a file of certificates in PEM format`]);
  }
  return text;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new EnvError([`TLS_CA_FILE must name a file that can be read: ${codeOf(error)}`]);
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
