import { ApiPropertyOptional } from '@nestjs/swagger';
import { Shows } from '../../../common/answer-fields.decorators.js';
import {
  certificateSteps,
  readCertificates,
  type CertificateFacts,
} from '../../../common/tls/certificates.js';
import { inTurns } from '../../../common/turns.js';

/** A certificate as it is shown: what tells it apart, and how long it is good for. */
export class CertificateDto {
  @Shows.value('Whom it names.', 'CN=inventory-agent, O=Example')
  subject: string;

  @Shows.value('Who signed it.', 'CN=Example CA, O=Example')
  issuer: string;

  @Shows.value('SHA-256 of the certificate, as OpenSSL writes it.', '5E:0B:…')
  fingerprint: string;

  @Shows.moment('When it begins.', '2026-01-31T10:20:30.000Z')
  validFrom: string;

  @Shows.moment('When it ends: connections fail from then on.', '2027-01-31T10:20:30.000Z')
  validTo: string;
}

/** What a system adds to TLS, as it is shown: without the key. */
export class TlsResponseDto {
  @ApiPropertyOptional({
    type: () => [CertificateDto],
    description: 'Authorities that are trusted in place of the built-in ones; absent without any.',
  })
  caCertificates?: CertificateDto[];

  @ApiPropertyOptional({
    type: () => CertificateDto,
    description: 'What the service shows where a server asks for a certificate; absent without one.',
  })
  clientCertificate?: CertificateDto;

  @ApiPropertyOptional({
    description:
      'Beside clientCertificate: whether its key is stored. It is not where a package has led the system elsewhere.',
    example: true,
  })
  hasClientKey?: boolean;
}

/** Reads the certificates of a system in turns, so that {@link toTlsResponse} finds them read. */
export async function readTls({
  caCertificates,
  clientCertificate,
}: Record<'caCertificates' | 'clientCertificate', string | null>): Promise<void> {
  for (const pem of [caCertificates, clientCertificate]) {
    if (pem !== null) {
      await inTurns(certificateSteps(pem));
    }
  }
}

/** @returns undefined for a system without certificates */
export function toTlsResponse({
  caCertificates,
  clientCertificate,
  hasClientKey,
}: {
  caCertificates: string | null;
  clientCertificate: string | null;
  hasClientKey: boolean;
}): TlsResponseDto | undefined {
  const authorities = shown(caCertificates);
  const [client] = shown(clientCertificate);
  if (authorities.length === 0 && client === undefined) {
    return undefined;
  }
  return {
    ...(authorities.length === 0 ? {} : { caCertificates: authorities }),
    ...(client === undefined ? {} : { clientCertificate: client, hasClientKey }),
  };
}

function shown(pem: string | null): CertificateDto[] {
  return (readCertificates(pem ?? '') ?? []).map(toCertificate);
}

function toCertificate(certificate: CertificateFacts): CertificateDto {
  return {
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    fingerprint: certificate.fingerprint,
    validFrom: certificate.validFrom.toISOString(),
    validTo: certificate.validTo.toISOString(),
  };
}

/** Node.js writes a part of a name on each line, and nothing where there is no name. */
function oneLine(name: string | undefined): string {
  return (name ?? '').split('\n').join(', ');
}
