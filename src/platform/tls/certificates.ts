import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { LruCache } from '../lru-cache.js';
import { isRsaSize } from '../secrets/signing-key.js';
import { runWithoutYielding, type YieldingWork } from '#engine/support';

/** Maximum length of certificates, in characters. Columns hold 65,535 bytes. */
export const CERTIFICATES_MAX_LENGTH = 32_768;
/** Maximum number of certificates, because each handshake reads all of them. */
const MAX_CERTIFICATES = 50;

/** Size of the cache, and the approximate overhead of an entry. */
const CACHE_BYTES = 4_194_304;
const FACTS_BYTES = 1_024;

/** Labels that OpenSSL accepts for certificates (RFC 7468, section 5). Any text is allowed between certificates. */
const BEGIN = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----/g;

export interface CertificateFacts {
  /** Canonical form, which is stored. */
  readonly pem: string;
  /** Names in the format of Node.js, with a part on each line; undefined if empty. */
  readonly subject: string | undefined;
  readonly issuer: string | undefined;
  /** SHA-256 in the format of OpenSSL. */
  readonly fingerprint: string;
  readonly validFrom: Date;
  readonly validTo: Date;
}

/** By hash of the text. Certificates are read often, and parsing one takes a tenth of a millisecond. */
const cache = new LruCache<string, CertificateFacts>({ bytes: CACHE_BYTES });

/** Reads 1 to 50 certificates. Returns undefined for any other number, and if one is invalid, which TLS would skip silently. */
export function readCertificates(pem: string): readonly CertificateFacts[] | undefined {
  return runWithoutYielding(certificateSteps(pem));
}

/** As {@link readCertificates}, in steps. Results are cached. */
export function* certificateSteps(pem: string): YieldingWork<readonly CertificateFacts[] | undefined> {
  const blocks = blocksOf(pem);
  const found: CertificateFacts[] = [];
  try {
    for (const block of blocks ?? []) {
      found.push(factsOf(block));
      yield;
    }
  } catch {
    return undefined;
  }
  return found.length === 0 ? undefined : found;
}

/** Finds the certificates in a text in linear time; returns undefined for more than 50. */
function blocksOf(pem: string): string[] | undefined {
  const blocks: string[] = [];
  const unterminated = new Set<string>();
  // The stored form is slightly longer than the original.
  const text = pem.length > 2 * CERTIFICATES_MAX_LENGTH ? '' : pem;
  let read = 0;
  for (const { 0: begin, 1: label = '', index } of text.matchAll(BEGIN)) {
    if (index < read || unterminated.has(label)) {
      continue;
    }
    const end = `-----END ${label}-----`;
    const at = text.indexOf(end, index + begin.length);
    if (at === -1) {
      unterminated.add(label);
      continue;
    }
    read = at + end.length;
    blocks.push(text.slice(index, read));
    if (blocks.length > MAX_CERTIFICATES) {
      return undefined;
    }
  }
  return blocks;
}

/** Parses a certificate. @throws Error when it or one of its dates is invalid */
function factsOf(block: string): CertificateFacts {
  const known = cache.get(keyOf(block));
  if (known !== undefined) {
    return known;
  }
  const certificate = new X509Certificate(block);
  const facts = {
    pem: String(certificate),
    subject: certificate.subject as string | undefined,
    issuer: certificate.issuer as string | undefined,
    fingerprint: certificate.fingerprint256,
    validFrom: new Date(certificate.validFrom),
    validTo: new Date(certificate.validTo),
  };
  if ([facts.validFrom, facts.validTo].some((date) => Number.isNaN(date.getTime()))) {
    throw new RangeError('invalid date');
  }
  const bytes = facts.pem.length + (facts.subject?.length ?? 0) + (facts.issuer?.length ?? 0) + FACTS_BYTES;
  // The canonical form is stored, so it will be read too.
  for (const text of [block, facts.pem.trimEnd()]) {
    cache.set(keyOf(text), facts, bytes);
  }
  return facts;
}

function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** Returns the rule that a text of certificates violates; undefined when it is valid. */
export function certificatesRule(value: unknown): string | undefined {
  return runWithoutYielding(certificatesRuleSteps(value));
}

/** As {@link certificatesRule}, in steps. */
export function* certificatesRuleSteps(value: unknown): YieldingWork<string | undefined> {
  if (typeof value !== 'string' || (yield* certificateSteps(value)) === undefined) {
    return 'must be 1 to 50 certificates in PEM format';
  }
  return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(value) ? 'must not hold a private key' : undefined;
}

/**
 * Reads an unencrypted private key (RFC 7468, section 10, and older formats of OpenSSL). RSA keys must have 2,048 to 4,096
 * bits, because signing with a larger one blocks the thread for seconds.
 * @returns undefined when it is invalid
 */
export function readPrivateKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey({ key: pem, format: 'pem' });
    return isRsaSize(key.asymmetricKeyDetails?.modulusLength) ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Reports whether a private key belongs to the first of the certificates, and both are strong enough for TLS. */
export function isKeyOf(key: string, certificates: string): boolean {
  const [read, chain] = [readPrivateKey(key), readCertificates(certificates)];
  const first = chain?.[0];
  if (read === undefined || first === undefined || !new X509Certificate(first.pem).checkPrivateKey(read)) {
    return false;
  }
  try {
    createSecureContext({ key, cert: certificates });
    return true;
  } catch {
    return false;
  }
}

/** Returns valid certificates in canonical form, without other text. Equal certificates have equal results. */
export function canonicalCertificates(pem: string): string {
  return (readCertificates(pem) ?? []).map((certificate) => certificate.pem).join('');
}

/** Returns a valid private key in canonical form (PKCS #8). Equal keys have equal results. */
export function canonicalKey(pem: string): string {
  return readPrivateKey(pem)?.export({ type: 'pkcs8', format: 'pem' }).toString() ?? '';
}
