import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EnvError, type Env } from '../config/env.js';
import { codeOf } from '../config/start.error.js';

/** Labels that OpenSSL accepts for certificates. */
const CERTIFICATES = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^]*?-----END \1-----/g;

/**
 * Reads the CA certificates (PEM) of TLS_CA_FILE.
 * @returns an empty object without the setting
 * @throws EnvError when the file cannot be read or any certificate is invalid; TLS would skip an invalid one silently
 */
export function readAuthority(env: Env): { ca?: string } {
  const file = env.get('TLS_CA_FILE');
  if (file === undefined) {
    return {};
  }
  const text = readText(file);
  const certificates = text.match(CERTIFICATES) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate)) {
    throw new EnvError([`TLS_CA_FILE must name a file of certificates in PEM format`]);
  }
  return { ca: text };
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
