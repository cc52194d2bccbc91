import { ValidationFailedError } from '../../../common/errors/request.errors.js';
import { Answer, Shows } from '../../../common/answer-fields.decorators.js';
import { IfSent } from '../../../common/validation/patterns.decorators.js';
import {
  IsClientSecret,
  IsApiKey,
  IsKeyId,
  IsNotBeside,
  IsPrivateKey,
  IsHeaders,
} from '../model/system-field.decorator.js';

/** A secret to use from now on: exactly one of clientSecret, privateKey, apiKey and headers. */
export class ReplaceSecretRequestDto {
  @IsClientSecret('OAuth 2.0 client secret of a SERVICE_ACCOUNT; never returned.', 'the-new-secret', false)
  @IfSent()
  clientSecret?: string;

  @IsPrivateKey()
  @IsNotBeside('clientSecret')
  privateKey?: string;

  @IsKeyId()
  @IsNotBeside('clientSecret', 'apiKey')
  keyId?: string;

  @IsApiKey(false)
  @IsNotBeside('clientSecret', 'privateKey')
  apiKey?: string;

  @IsHeaders('New values for the headers that the system has: all of them, and no other.')
  @IsNotBeside('clientSecret', 'privateKey', 'apiKey')
  headers?: Record<string, string> | null;
}

export class ReplacedSecretResponseDto extends Answer({
  status: Shows.number('The HTTP status again.', 200),
  message: Shows.value(
    'What happened: `Client secret replaced.`, `Private key replaced.`, `API key replaced.` or `Headers replaced.`',
    'Client secret replaced.',
  ),
  resourceId: Shows.uuid('Resource id of the system.'),
}) {}

/** What was replaced, as callers know it. */
export type ReplacedSecret = 'clientSecret' | 'privateKey' | 'apiKey' | 'headers';

/** What a request replaces. @throws ValidationFailedError when it names no secret */
export function replacedSecret(request: ReplaceSecretRequestDto): ReplacedSecret {
  const names = ['headers', 'apiKey', 'privateKey', 'clientSecret'] as const;
  const replaced = names.find((name) => request[name] !== undefined && request[name] !== null);
  if (replaced === undefined) {
    // In the words of the field itself: until there were others, it was the only one.
    throw new ValidationFailedError([{ field: 'clientSecret', rule: 'must be a string' }]);
  }
  return replaced;
}
