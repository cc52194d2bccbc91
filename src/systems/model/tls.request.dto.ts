import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  IsDefined,
  IsOptional,
  IsString,
  ValidateBy,
  ValidateIf,
  type ValidationArguments,
} from 'class-validator';
import {
  canonicalCertificates,
  canonicalKey,
  CERTIFICATES_MAX_LENGTH,
  certificatesRule,
  certificatesRuleSteps,
  isKeyOf,
  readPrivateKey,
} from '../../platform/tls/certificates.js';
import { PRIVATE_KEY_MAX_LENGTH } from '../../platform/secrets/signing-key.js';
import { runAfterYield, runYielding } from '#engine/support';
import { HasLength, IfSent } from '../../platform/validation/patterns.decorators.js';
import { IsOptionalPart } from './system-field.decorator.js';
import type { SystemTls } from './system.types.js';

const PEM_EXAMPLE = '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n';
const CA =
  'Certificates (PEM) of the authorities to trust for this system and its token endpoint, instead of the built-in ones.';
const CERTIFICATE = 'Client certificate (PEM) for servers that request one, followed by its chain.';
const KEY = 'Private key of the client certificate (PEM, not encrypted). Stored encrypted, never returned.';

type Rule = (value: unknown, args: ValidationArguments | undefined) => string | undefined;

/** A PEM text that is validated in slices; `problemOf` returns the error message. */
const IsPem = (
  name: string,
  { isValid, problemOf }: { isValid: (...given: Parameters<Rule>) => Promise<boolean>; problemOf: Rule },
  { maxLength = 0, ...options }: ApiPropertyOptions & { maxLength?: number },
): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: String, minLength: 1, maxLength, ...options }),
    IsString({ message: 'must be a string' }),
    HasLength(1, maxLength),
    ValidateBy({
      name,
      async: true,
      validator: { validate: isValid, defaultMessage: (args) => problemOf(args?.value, args) ?? '' },
    }),
  );

/** 1 to 50 certificates in PEM format, without a private key. */
const IsCertificates = (options: ApiPropertyOptions): PropertyDecorator =>
  IsPem(
    'isCertificates',
    {
      isValid: async (value) => (await runYielding(certificatesRuleSteps(value))) === undefined,
      problemOf: certificatesRule,
    },
    { maxLength: CERTIFICATES_MAX_LENGTH, example: PEM_EXAMPLE, ...options },
  );

/** The private key of `clientCertificate` of the same object, if present. */
const IsClientKey = (options: ApiPropertyOptions): PropertyDecorator =>
  IsPem(
    'isClientKey',
    {
      isValid: async (value, args) => {
        await runYielding(certificatesRuleSteps(siblingCertificate(args)));
        return runAfterYield(() => keyRule(value, args) === undefined);
      },
      problemOf: keyRule,
    },
    { maxLength: PRIVATE_KEY_MAX_LENGTH, format: 'password', writeOnly: true, description: KEY, ...options },
  );

function keyRule(value: unknown, args: ValidationArguments | undefined): string | undefined {
  if (typeof value !== 'string' || readPrivateKey(value) === undefined) {
    return 'must be a private key in PEM format that is not encrypted, of RSA with 2,048 to 4,096 bits';
  }
  const clientCertificate = siblingCertificate(args);
  const isOther = typeof clientCertificate === 'string' && !isKeyOf(value, clientCertificate);
  return isOther ? 'must be the key of clientCertificate' : undefined;
}

function siblingCertificate(args: ValidationArguments | undefined): unknown {
  return ((args?.object ?? {}) as { clientCertificate?: unknown }).clientCertificate;
}

/** The client certificate of a system and its key. */
export class ClientCertificateRequestDto {
  @IsCertificates({ description: CERTIFICATE })
  @IsDefined({ message: 'is required with clientKey' })
  clientCertificate: string;

  @IsClientKey({})
  @IsDefined({ message: 'is required with clientCertificate' })
  clientKey: string;
}

const hasClient = ({ clientCertificate, clientKey }: TlsRequestDto): boolean =>
  clientCertificate !== undefined || clientKey !== undefined;

/** TLS certificates and key of a system (docs/contract.md, section 2.7). */
export class TlsRequestDto {
  @IsCertificates({ required: false, description: CA })
  @IfSent()
  caCertificates?: string;

  @ValidateIf(hasClient)
  @IsCertificates({ required: false, description: CERTIFICATE })
  @IsDefined({ message: 'is required with clientKey' })
  clientCertificate?: string;

  @ValidateIf(hasClient)
  @IsClientKey({ required: false })
  @IsDefined({ message: 'is required with clientCertificate' })
  clientKey?: string;
}

/** Validates and documents the TLS certificates and key of a system. */
export const IsTlsPart = (): PropertyDecorator =>
  IsOptionalPart(() => TlsRequestDto, {
    description: 'Own authorities and client certificate (extension).',
  });

/** Changes of TLS certificates and key. Absent members keep their values. */
export class UpdateTlsDto {
  @IsCertificates({ required: false, nullable: true, description: `${CA} Null restores the built-in ones.` })
  @IsOptional()
  caCertificates?: string | null;

  @IsCertificates({
    required: false,
    nullable: true,
    description: `${CERTIFICATE} Requires clientKey. Null removes both.`,
  })
  @IsOptional()
  clientCertificate?: string | null;

  @ValidateIf(
    ({ clientCertificate, clientKey }: UpdateTlsDto) =>
      clientKey !== undefined || typeof clientCertificate === 'string',
  )
  @IsClientKey({
    required: false,
    description: `${KEY} Required when baseUrl, identityProviderUrl or caCertificates change.`,
  })
  @IsDefined({ message: 'is required with clientCertificate' })
  clientKey?: string;
}

type SentTls = { [Name in keyof TlsRequestDto]: TlsRequestDto[Name] | undefined };

/** Converts validated certificates and key to the canonical form that is stored. */
export function tlsOf({ caCertificates, clientCertificate, clientKey }: SentTls = {}): SystemTls {
  return {
    caCertificates: caCertificates === undefined ? null : canonicalCertificates(caCertificates),
    clientCertificate: clientCertificate === undefined ? null : canonicalCertificates(clientCertificate),
    clientKey: clientKey === undefined ? null : canonicalKey(clientKey),
  };
}
