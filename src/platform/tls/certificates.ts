import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { RecentlyUsed } from '../recently-used.js';
import { isRsaSize } from '../secrets/signing-key.js';
import { inOnePiece, type Steps } from '#engine/support';

/** Longest text of certificates, in characters. Columns hold 65,535 bytes. */
export const CERTIFICATES_MAX_LENGTH = 32_768;
/** Each one is read at each handshake. */
const MAX_CERTIFICATES = 50;

/** Sizes of what is remembered of certificates, and about what it takes for one. */
const REMEMBERED_BYTES = 4_194_304;
const FACTS_BYTES = 1_024;

/** The labels that OpenSSL takes for a certificate (RFC 7468, section 5). Between them may stand any text. */
const BEGIN = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----/g;

export interface CertificateFacts {
  /** In the one form that is stored. */
  readonly pem: string;
  /** Names as Node.js writes them, a part on each line; undefined where there is none. */
  readonly subject: string | undefined;
  readonly issuer: string | undefined;
  /** SHA-256, as OpenSSL writes it. */
  readonly fingerprint: string;
  readonly validFrom: Date;
  readonly validTo: Date;
}

/** By the hash of its text: reading one takes a tenth of a millisecond, and each is looked at again and again. */
const remembered = new RecentlyUsed<string, CertificateFacts>({ bytes: REMEMBERED_BYTES });

/** Reads 1 to 50 certificates; undefined also when one is broken, which TLS would leave out silently. */
export function readCertificates(pem: string): readonly CertificateFacts[] | undefined {
  return inOnePiece(certificateSteps(pem));
}

/** As {@link readCertificates}, with breaks. The same text costs next to nothing soon after. */
export function* certificateSteps(pem: string): Steps<readonly CertificateFacts[] | undefined> {
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

/** The texts of the certificates in a text; undefined for more than 50. Linear in its length. */
function blocksOf(pem: string): string[] | undefined {
  const blocks: string[] = [];
  const endless = new Set<string>();
  // What is stored is a little longer than what was sent.
  const text = pem.length > 2 * CERTIFICATES_MAX_LENGTH ? '' : pem;
  let read = 0;
  for (const { 0: begin, 1: label = '', index } of text.matchAll(BEGIN)) {
    if (index < read || endless.has(label)) {
      continue;
    }
    const end = `-----END ${label}-----`;
    const at = text.indexOf(end, index + begin.length);
    if (at === -1) {
      endless.add(label);
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

/** @throws Error for what is no certificate, or has dates that are none */
function factsOf(block: string): CertificateFacts {
  const known = remembered.get(keyOf(block));
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
    throw new RangeError('no date');
  }
  const bytes = facts.pem.length + (facts.subject?.length ?? 0) + (facts.issuer?.length ?? 0) + FACTS_BYTES;
  // What is stored is read again in the one form.
  for (const text of [block, facts.pem.trimEnd()]) {
    remembered.set(keyOf(text), facts, bytes);
  }
  return facts;
}

function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** The rule that a text of certificates breaks; undefined when it breaks none. */
export function certificatesRule(value: unknown): string | undefined {
  return inOnePiece(certificatesRuleSteps(value));
}

/** As {@link certificatesRule}, with breaks. */
export function* certificatesRuleSteps(value: unknown): Steps<string | undefined> {
  if (typeof value !== 'string' || (yield* certificateSteps(value)) === undefined) {
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

/** Certificates of a checked text in one form, without the text between them: equal for equal certificates. */
export function canonicalCertificates(pem: string): string {
  return (readCertificates(pem) ?? []).map((certificate) => certificate.pem).join('');
}

/** A checked private key in one form (PKCS #8): equal for equal keys. */
export function canonicalKey(pem: string): string {
  return readPrivateKey(pem)?.export({ type: 'pkcs8', format: 'pem' }).toString() ?? '';
}
