import { Shows } from '../../../common/answer-fields.decorators.js';
import { IfSent, IsCredential } from '../../../common/validation/patterns.decorators.js';
import { IsApiKey, IsKeyId, IsNotBeside, IsPrivateKey } from '../model/credential.decorators.js';
import { IsHeaders } from '../model/static-headers.decorator.js';

/** A secret to use from now on: exactly one of clientSecret, privateKey, apiKey and headers. */
export class ReplaceSecretRequestDto {
  @IsCredential(1_024, {
    required: false,
    description: 'OAuth 2.0 client secret of a SERVICE_ACCOUNT; never returned.',
    format: 'password',
    writeOnly: true,
    example: 'the-new-secret',
  })
  @IfSent()
  clientSecret?: string;

  @IsPrivateKey()
  @IsNotBeside('clientSecret')
  privateKey?: string;

  @IsKeyId()
  @IsNotBeside('clientSecret')
  @IsNotBeside('apiKey')
  keyId?: string;

  @IsApiKey(false)
  @IsNotBeside('clientSecret')
  @IsNotBeside('privateKey')
  apiKey?: string;

  @IsHeaders('New values for the headers that the system has: all of them, and no other.')
  @IsNotBeside('clientSecret')
  @IsNotBeside('privateKey')
  @IsNotBeside('apiKey')
  headers?: Record<string, string> | null;
}

/** Answer of the replacement. */
export class ReplacedSecretResponseDto {
  @Shows.number('The HTTP status again.', 200)
  status: number;

  @Shows.value(
    'What happened: `Client secret replaced.`, `Private key replaced.`, `API key replaced.` or `Headers replaced.`',
    'Client secret replaced.',
  )
  message: string;

  @Shows.uuid('Resource id of the system.')
  resourceId: string;
}
