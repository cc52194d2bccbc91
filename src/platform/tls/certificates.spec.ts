import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { runWithoutYielding } from '#engine/support';
import {
  canonicalCertificates,
  certificatesRule,
  certificateSteps,
  readCertificates,
} from './certificates.js';

const [first = '', second = '', third = ''] = rootCertificates;
const BROKEN = 'must be 1 to 50 certificates in PEM format';
/** Replaces the label of a certificate by another one that OpenSSL accepts. */
const labelled = (pem: string, label: string): string => pem.replaceAll(' CERTIFICATE', ` ${label}`);

/** Finds certificates with a regular expression, which takes quadratic time when ends are missing. */
function blocksByExpression(pem: string): string[] {
  return pem.match(/-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^]*?-----END \1-----/g) ?? [];
}

/** Counts the steps of reading a text. */
function piecesOf(pem: string): number {
  const steps = certificateSteps(pem);
  let pieces = 1;
  while (steps.next().done !== true) {
    pieces += 1;
  }
  return pieces;
}

describe('readCertificates', () => {
  it.each([
    ['one', first],
    ['several with remarks between them', `# ours\n${first}\nand\n${second}\n`],
    ['another label', labelled(first, 'X509 CERTIFICATE')],
    ['a preceding beginning without an end', `-----BEGIN TRUSTED CERTIFICATE-----\n${first}`],
    ['a preceding end', `-----END CERTIFICATE-----\n${first}`],
  ])('reads %s', (_, pem) => {
    const blocks = blocksByExpression(pem).map((block) => canonicalCertificates(block));
    expect(blocks.length).toBeGreaterThan(0);
    expect(canonicalCertificates(pem)).toBe(blocks.join(''));
  });

  it.each([
    ['nothing', ''],
    ['a beginning within another', `-----BEGIN CERTIFICATE-----\n${first}`],
    ['another end', first.replace('END CERTIFICATE', 'END X509 CERTIFICATE')],
    ['a broken one after a good one', first + second.replace(/MII../, 'AAAAA')],
    ['51 of them', first.repeat(51)],
  ])('rejects %s', (_, pem) => {
    expect(readCertificates(pem)).toBeUndefined();
    expect(certificatesRule(pem)).toBe(BROKEN);
  });

  it('reads the same certificate again, and its stored form, with the same result', () => {
    const facts = readCertificates(first);
    expect(readCertificates(`\n${first}`)).toEqual(facts);
    expect(readCertificates(canonicalCertificates(first))).toEqual(facts);
    expect(readCertificates(second)?.[0]).not.toEqual(facts?.[0]);
  });

  it('takes one step for each certificate', () => {
    expect(piecesOf(first + second + third)).toBe(4);
    expect(runWithoutYielding(certificateSteps(first + second + third))).toHaveLength(3);
  });

  it('reads beginnings without ends in linear time', () => {
    // Longer than the maximum of a request, so that a regular expression would take more than a second.
    const text = '-----BEGIN CERTIFICATE-----'.repeat(2_400);
    const begun = process.cpuUsage();
    for (let round = 0; round < 20; round += 1) {
      certificatesRule(text.slice(0, 65_536));
    }
    const { user, system } = process.cpuUsage(begun);
    expect((user + system) / 1_000).toBeLessThan(500);
  });
});
