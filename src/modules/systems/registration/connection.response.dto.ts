import type { SystemDetails } from '../storage/system.entity.js';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Shows } from '../../../common/answer-fields.decorators.js';
import { kindOf } from '../model/authorization-kinds.dto.js';
import { AuthorizationType } from '../model/system.types.js';
import {
  certificateSteps,
  readCertificates,
  type CertificateFacts,
} from '../../../common/tls/certificates.js';
import { inTurns } from '../../../common/turns.js';

const WITHOUT_SECRET = 'Without the secret.';

/** Client credentials as they are shown: without the secret. */
export class ServiceAccountResponseDto {
  @Shows.value('OAuth 2.0 client id.', 'inventory-agent')
  clientId: string;

  @ApiProperty({
    format: 'uri',
    description: 'OAuth 2.0 token endpoint.',
    example: 'https://sso.example.com/oauth2/token',
  })
  identityProviderUrl: string;

  @ApiPropertyOptional({
    enum: ['private_key_jwt'],
    description: 'Present where the client signs with a private key (OpenID Connect Core 1.0, section 9).',
    example: 'private_key_jwt',
  })
  authenticationMethod?: 'private_key_jwt';

  @ApiPropertyOptional({
    description: 'Algorithm that the private key signs with (RFC 7518). Present with authenticationMethod.',
    example: 'ES256',
  })
  algorithm?: string;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Key id of the private key, null without one. Present with authenticationMethod.',
    example: 'key-2026',
  })
  keyId?: string | null;

  @ApiPropertyOptional({
    description: 'Scope of the token request (extension). Absent without one.',
    example: 'inventory.read',
  })
  scope?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Further fields of the token request (extension). Absent without any.',
    example: { audience: 'https://inventory.example.com' },
  })
  tokenParameters?: Readonly<Record<string, string>>;
}

/** An API key as it is shown: where it is sent, without the key. */
export class ApiKeyResponseDto {
  @Shows.value('Header that the key is sent in.', 'Authorization')
  headerName: string;

  @Shows.textOrNull('Word before the key.', 'Bearer')
  scheme: string | null;
}

const NoAuthorizationResponseDto = kindOf(
  'NoAuthorizationResponseDto',
  AuthorizationType.NoAuth,
  'Nothing is shown to the server.',
);

/** @param member name of the configuration */
const shownKinds = (answer: 'Created' | 'Stored', member: 'configuration' | 'config') => ({
  [AuthorizationType.NoAuth]: NoAuthorizationResponseDto,
  [AuthorizationType.ServiceAccount]: kindOf(
    `${answer}ServiceAccountDto`,
    AuthorizationType.ServiceAccount,
    'OAuth 2.0 client credentials.',
    { [member]: Shows.part(() => ServiceAccountResponseDto, WITHOUT_SECRET) },
  ),
  [AuthorizationType.ApiKey]: kindOf(`${answer}ApiKeyDto`, AuthorizationType.ApiKey, 'A key in a header.', {
    [member]: Shows.part(() => ApiKeyResponseDto, WITHOUT_SECRET),
  }),
});

/** Authorizations in the answer of the create operation. */
export const CREATED_KINDS = shownKinds('Created', 'configuration');
/** Authorizations in the answer of get-by-id, which names the same content `config`. */
export const STORED_KINDS = shownKinds('Stored', 'config');

/** An authorization as it is made: without a configuration for NO_AUTH. */
export type ShownAuthorization<Member extends string> = { type: AuthorizationType } & Partial<
  Record<Member, ServiceAccountResponseDto | ApiKeyResponseDto>
>;

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

type ShownTls = Pick<SystemDetails, 'caCertificates' | 'clientCertificate' | 'hasClientKey'>;

/** Reads the certificates of a system in turns, so that {@link toTlsResponse} finds them read. */
export async function readTls(system: ShownTls): Promise<void> {
  for (const pem of [system.caCertificates, system.clientCertificate]) {
    if (pem !== null) {
      await inTurns(certificateSteps(pem));
    }
  }
}

/** @returns undefined for a system without certificates */
export function toTlsResponse(system: ShownTls): TlsResponseDto | undefined {
  const authorities = shown(system.caCertificates);
  const [client] = shown(system.clientCertificate);
  if (authorities.length === 0 && client === undefined) {
    return undefined;
  }
  return {
    ...(authorities.length === 0 ? {} : { caCertificates: authorities }),
    ...(client === undefined ? {} : { clientCertificate: client, hasClientKey: system.hasClientKey }),
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
