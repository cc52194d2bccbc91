import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EnvError } from '../../config/env.js';
import { codeOf } from '../../config/start.error.js';

/** The labels that OpenSSL takes for a certificate. */
const CERTIFICATES = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^]*?-----END \1-----/g;

/**
 * Reads the certificates of an authority that an operator names.
 * @param file value of the setting
 * @param setting its name
 * @returns the file's text, PEM
 * @throws EnvError when the file cannot be read, or holds no certificate or a broken one. TLS would leave a broken one
 * out, and say of every server that nobody knows its authority
 */
export function readAuthority(file: string, setting = 'DATABASE_TLS_CA_FILE'): string {
  const text = readText(file, setting);
  const certificates = text.match(CERTIFICATES) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate)) {
    throw new EnvError([`${setting} must name a file of certificates in PEM format`]);
  }
  return text;
}

function readText(file: string, setting: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new EnvError([`${setting} must name a file that can be read: ${codeOf(error)}`]);
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
