import type { SystemDetails } from '../storage/system.entity.js';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Answer, shown, Shows, shows } from '../../platform/openapi/answer-fields.decorators.js';
import { kindOf } from '../model/authorization.request.dto.js';
import { AuthorizationType } from '../model/system.types.js';
import { certificateSteps, readCertificates } from '../../platform/tls/certificates.js';
import { runYielding } from '#engine/support';

const WITHOUT_SECRET = 'Without the secret.';

/** Client credentials in responses, without the secret. */
export class ServiceAccountResponseDto extends Answer({
  clientId: Shows.value('OAuth 2.0 client id.', 'inventory-agent'),
  identityProviderUrl: shows({ format: 'uri' })(
    'OAuth 2.0 token endpoint.',
    'https://sso.example.com/oauth2/token',
  ),
  authenticationMethod: shows<'private_key_jwt' | undefined>({ enum: ['private_key_jwt'], required: false })(
    'Present when the client signs with a private key (OpenID Connect Core 1.0, section 9).',
    'private_key_jwt',
  ),
  algorithm: Shows.optionalValue(
    'Signature algorithm of the private key (RFC 7518). Present with authenticationMethod.',
    'ES256',
  ),
  keyId: shows<string | null | undefined>({ type: String, nullable: true, required: false })(
    'Key id of the private key, if any. Present with authenticationMethod.',
    'key-2026',
  ),
  scope: Shows.optionalValue('Scope of the token request (extension).', 'inventory.read'),
  tokenParameters: shown<Readonly<Record<string, string>> | undefined>(
    ApiPropertyOptional({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Additional fields of the token request (extension).',
      example: { audience: 'https://inventory.example.com' },
    }),
  ),
}) {}

/** An API key in responses, without the key. */
export class ApiKeyResponseDto extends Answer({
  headerName: Shows.value('Header for the key.', 'Authorization'),
  scheme: Shows.textOrNull('Authentication scheme before the key.', 'Bearer'),
}) {}

const NoAuthorizationResponseDto = kindOf(
  'NoAuthorizationResponseDto',
  AuthorizationType.NoAuth,
  'The service sends no credentials.',
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

/** Authorizations in the response of the create operation. */
export const CREATED_KINDS = shownKinds('Created', 'configuration');
/** Authorizations in the response of get-by-id, which names the configuration `config`. */
export const STORED_KINDS = shownKinds('Stored', 'config');

/** An authorization in responses. NO_AUTH has no configuration. */
export type ShownAuthorization<Member extends string> = { type: AuthorizationType } & Partial<
  Record<Member, ServiceAccountResponseDto | ApiKeyResponseDto>
>;

/** Identity and validity of a certificate. */
export class CertificateDto extends Answer({
  subject: Shows.value('Subject of the certificate.', 'CN=inventory-agent, O=Example'),
  issuer: Shows.value('Issuer of the certificate.', 'CN=Example CA, O=Example'),
  fingerprint: Shows.value('SHA-256 fingerprint in OpenSSL format.', '5E:0B:…'),
  validFrom: Shows.moment('Start of validity.', '2026-01-31T10:20:30.000Z'),
  validTo: Shows.moment('End of validity; connections fail afterwards.', '2027-01-31T10:20:30.000Z'),
}) {}

/** TLS certificates of a system in responses, without the key. */
export class TlsResponseDto extends Answer({
  caCertificates: Shows.optionalList(
    () => CertificateDto,
    'Authorities to trust instead of the built-in ones.',
  ),
  clientCertificate: Shows.optionalPart(
    () => CertificateDto,
    'Client certificate for servers that request one.',
  ),
  hasClientKey: shows<boolean | undefined>({ type: Boolean, required: false })(
    'Whether the key of clientCertificate is stored. False after a package changed the destination of the system. Present with clientCertificate.',
    true,
  ),
}) {}

type ShownTls = Pick<SystemDetails, 'caCertificates' | 'clientCertificate' | 'hasClientKey'>;

/** Parses the certificates of a system in slices, so that {@link toTlsResponse} finds them in the cache. */
export async function readTls(system: ShownTls): Promise<void> {
  for (const pem of [system.caCertificates, system.clientCertificate]) {
    if (pem !== null) {
      await runYielding(certificateSteps(pem));
    }
  }
}

/** Converts the certificates of a system to a response. @returns undefined for a system without certificates */
export function toTlsResponse(system: ShownTls): TlsResponseDto | undefined {
  const authorities = certificatesOf(system.caCertificates);
  const [client] = certificatesOf(system.clientCertificate);
  if (authorities.length === 0 && client === undefined) {
    return undefined;
  }
  return {
    ...(authorities.length === 0 ? {} : { caCertificates: authorities }),
    ...(client === undefined ? {} : { clientCertificate: client, hasClientKey: system.hasClientKey }),
  };
}

function certificatesOf(pem: string | null): CertificateDto[] {
  return (readCertificates(pem ?? '') ?? []).map(({ subject, issuer, fingerprint, validFrom, validTo }) => ({
    subject: oneLine(subject),
    issuer: oneLine(issuer),
    fingerprint,
    validFrom,
    validTo,
  }));
}

/** Joins the parts of a distinguished name, which Node.js separates by line feeds. */
function oneLine(name: string | undefined): string {
  return (name ?? '').split('\n').join(', ');
}
