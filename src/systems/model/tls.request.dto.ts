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
import { inTurn, inTurns } from '#engine/support';
import { HasLength, IfSent } from '../../platform/validation/patterns.decorators.js';
import { IsOptionalPart } from './system-field.decorator.js';
import type { SystemTls } from './system.types.js';

const PEM_EXAMPLE = '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n';
const CA =
  'Certificates (PEM) of the authorities that are trusted for this system alone, its token endpoint included, in place of the built-in ones.';
const CERTIFICATE =
  'Certificate (PEM) that the service shows where a server asks for one, the chain after it.';
const KEY = 'Its private key (PEM, not encrypted). Stored encrypted, never returned.';

type Judge = (value: unknown, args: ValidationArguments | undefined) => string | undefined;

/** A text of PEM that is judged in turns, and told by `problemOf` what is wrong with it. */
const IsPem = (
  name: string,
  { isValid, problemOf }: { isValid: (...given: Parameters<Judge>) => Promise<boolean>; problemOf: Judge },
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

/** 1 to 50 certificates in PEM format, and no private key. */
const IsCertificates = (options: ApiPropertyOptions): PropertyDecorator =>
  IsPem(
    'isCertificates',
    {
      isValid: async (value) => (await inTurns(certificatesRuleSteps(value))) === undefined,
      problemOf: certificatesRule,
    },
    { maxLength: CERTIFICATES_MAX_LENGTH, example: PEM_EXAMPLE, ...options },
  );

/** The private key of the `clientCertificate` beside it, where there is one. */
const IsClientKey = (options: ApiPropertyOptions): PropertyDecorator =>
  IsPem(
    'isClientKey',
    {
      isValid: async (value, args) => {
        await inTurns(certificatesRuleSteps(certificateBeside(args)));
        return inTurn(() => keyRule(value, args) === undefined);
      },
      problemOf: keyRule,
    },
    { maxLength: PRIVATE_KEY_MAX_LENGTH, format: 'password', writeOnly: true, description: KEY, ...options },
  );

function keyRule(value: unknown, args: ValidationArguments | undefined): string | undefined {
  if (typeof value !== 'string' || readPrivateKey(value) === undefined) {
    return 'must be a private key in PEM format that is not encrypted, of RSA with 2,048 to 4,096 bits';
  }
  const clientCertificate = certificateBeside(args);
  const isOther = typeof clientCertificate === 'string' && !isKeyOf(value, clientCertificate);
  return isOther ? 'must be the key of clientCertificate' : undefined;
}

function certificateBeside(args: ValidationArguments | undefined): unknown {
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

/** What a system adds to TLS (docs/contract.md, section 2.7). */
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

/** A member with what a system adds to TLS. */
export const IsTlsPart = (): PropertyDecorator =>
  IsOptionalPart(() => TlsRequestDto, {
    description: 'Authorities of its own and a client certificate (extension).',
  });

/** What to change of it; a member that is left out keeps its value. */
export class UpdateTlsDto {
  @IsCertificates({ required: false, nullable: true, description: `${CA} null: the built-in ones again.` })
  @IsOptional()
  caCertificates?: string | null;

  @IsCertificates({
    required: false,
    nullable: true,
    description: `${CERTIFICATE} Needs clientKey. null removes both.`,
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

/** Checked certificates and key in the one form that is stored. */
export function tlsOf({ caCertificates, clientCertificate, clientKey }: SentTls = {}): SystemTls {
  return {
    caCertificates: caCertificates === undefined ? null : canonicalCertificates(caCertificates),
    clientCertificate: clientCertificate === undefined ? null : canonicalCertificates(clientCertificate),
    clientKey: clientKey === undefined ? null : canonicalKey(clientKey),
  };
}
