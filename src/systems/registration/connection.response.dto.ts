import type { SystemDetails } from '../storage/system.entity.js';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Answer, shown, Shows, shows } from '../../platform/openapi/answer-fields.decorators.js';
import { kindOf } from '../model/authorization.request.dto.js';
import { AuthorizationType } from '../model/system.types.js';
import { certificateSteps, readCertificates } from '../../platform/tls/certificates.js';
import { inTurns } from '#engine/support';

const WITHOUT_SECRET = 'Without the secret.';

/** Client credentials as they are shown: without the secret. */
export class ServiceAccountResponseDto extends Answer({
  clientId: Shows.value('OAuth 2.0 client id.', 'inventory-agent'),
  identityProviderUrl: shows({ format: 'uri' })(
    'OAuth 2.0 token endpoint.',
    'https://sso.example.com/oauth2/token',
  ),
  authenticationMethod: shows<'private_key_jwt' | undefined>({ enum: ['private_key_jwt'], required: false })(
    'Present where the client signs with a private key (OpenID Connect Core 1.0, section 9).',
    'private_key_jwt',
  ),
  algorithm: Shows.valueIfAsked(
    'Algorithm that the private key signs with (RFC 7518). Present with authenticationMethod.',
    'ES256',
  ),
  keyId: shows<string | null | undefined>({ type: String, nullable: true, required: false })(
    'Key id of the private key, null without one. Present with authenticationMethod.',
    'key-2026',
  ),
  scope: Shows.valueIfAsked('Scope of the token request (extension). Absent without one.', 'inventory.read'),
  tokenParameters: shown<Readonly<Record<string, string>> | undefined>(
    ApiPropertyOptional({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Further fields of the token request (extension). Absent without any.',
      example: { audience: 'https://inventory.example.com' },
    }),
  ),
}) {}

/** An API key as it is shown: where it is sent, without the key. */
export class ApiKeyResponseDto extends Answer({
  headerName: Shows.value('Header that the key is sent in.', 'Authorization'),
  scheme: Shows.textOrNull('Word before the key.', 'Bearer'),
}) {}

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
export class CertificateDto extends Answer({
  subject: Shows.value('Whom it names.', 'CN=inventory-agent, O=Example'),
  issuer: Shows.value('Who signed it.', 'CN=Example CA, O=Example'),
  fingerprint: Shows.value('SHA-256 of the certificate, as OpenSSL writes it.', '5E:0B:…'),
  validFrom: Shows.moment('When it begins.', '2026-01-31T10:20:30.000Z'),
  validTo: Shows.moment('When it ends: connections fail from then on.', '2027-01-31T10:20:30.000Z'),
}) {}

/** What a system adds to TLS, as it is shown: without the key. */
export class TlsResponseDto extends Answer({
  caCertificates: Shows.listIfAsked(
    () => CertificateDto,
    'Authorities that are trusted in place of the built-in ones; absent without any.',
  ),
  clientCertificate: Shows.partIfAsked(
    () => CertificateDto,
    'What the service shows where a server asks for a certificate; absent without one.',
  ),
  hasClientKey: shows<boolean | undefined>({ type: Boolean, required: false })(
    'Beside clientCertificate: whether its key is stored. It is not where a package has led the system elsewhere.',
    true,
  ),
}) {}

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

/** Node.js writes a part of a name on each line, and nothing where there is no name. */
function oneLine(name: string | undefined): string {
  return (name ?? '').split('\n').join(', ');
}
