import { ValidationFailedError } from '../../../common/errors/request.errors.js';
import { signingCredential } from '../model/authorization.request.dto.js';
import { connectionKeyOf } from '../model/connection.js';
import { accountOptionsOf, accountText } from '../model/credential-options.js';
import { AuthorizationType } from '../model/system.types.js';
import { headerColumns } from '../model/static-headers.js';
import { NoApiKeyError, NoServiceAccountError, OtherHeadersError } from '../model/systems.errors.js';
import type { SystemSecrets } from '../secrets/system-secrets.js';
import type { SystemEntity } from '../storage/system.entity.js';
import type { ReplaceSecretRequestDto } from './client-secret.dto.js';

/** What was replaced, as callers know it. */
export type ReplacedSecret = 'clientSecret' | 'privateKey' | 'apiKey' | 'headers';

/**
 * What a request replaces.
 * @throws ValidationFailedError when it names no secret
 */
export function replacedSecret({
  clientSecret,
  privateKey,
  apiKey,
  headers,
}: ReplaceSecretRequestDto): ReplacedSecret {
  if (headers) {
    return 'headers';
  }
  if (apiKey !== undefined) {
    return 'apiKey';
  }
  if (privateKey !== undefined) {
    return 'privateKey';
  }
  if (clientSecret === undefined) {
    // In the words of the field itself: until there were others, it was the only one.
    throw new ValidationFailedError([{ field: 'clientSecret', rule: 'must be a string' }]);
  }
  return 'clientSecret';
}

/**
 * A system with another secret.
 * @throws NoServiceAccountError, NoApiKeyError, OtherHeadersError when its connection has no such secret
 */
export function withSecret(
  system: SystemEntity,
  request: ReplaceSecretRequestDto,
  secrets: Pick<SystemSecrets, 'seal'>,
): SystemEntity {
  const { authorizationType: type } = system;
  if (request.headers) {
    return withHeaders(system, request.headers, secrets);
  }
  if (request.apiKey !== undefined) {
    if (type !== AuthorizationType.ApiKey) {
      throw new NoApiKeyError();
    }
    return { ...system, clientSecret: secrets.seal(system, request.apiKey) };
  }
  if (type !== AuthorizationType.ServiceAccount) {
    throw new NoServiceAccountError();
  }
  const { secret, key } =
    request.privateKey === undefined
      ? { secret: request.clientSecret ?? '', key: null }
      : signingCredential(request.privateKey, request.keyId);
  const next = { ...system, credentialOptions: accountText({ ...accountOptionsOf(system), key }) };
  return { ...next, connectionKey: connectionKeyOf(next), clientSecret: secrets.seal(next, secret) };
}

/** The names are part of the definition of the system, so they stay. */
function withHeaders(
  system: SystemEntity,
  sent: Record<string, string>,
  secrets: Pick<SystemSecrets, 'seal'>,
): SystemEntity {
  const { headers, headerNames } = headerColumns(sent);
  if (headers === null || headerNames !== system.headerNames) {
    throw new OtherHeadersError();
  }
  return { ...system, headers: secrets.seal(system, headers, 'headers') };
}
