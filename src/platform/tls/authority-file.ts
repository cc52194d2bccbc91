import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EnvError, type Env } from '../config/env.js';
import { codeOf } from '../config/start.error.js';

/** The labels that OpenSSL takes for a certificate. */
const CERTIFICATES = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^]*?-----END \1-----/g;

/**
 * Reads the certificates (PEM) of the authority that TLS_CA_FILE names.
 * @returns nothing without the setting
 * @throws EnvError when one is broken, too: TLS would leave it out, and say of every server that nobody knows
 * its authority
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
