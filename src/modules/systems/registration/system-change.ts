import { ValidationFailedError, type FieldProblem } from '../../../common/errors/request.errors.js';
import { connectionKey } from '../model/connection.js';
import type { UpdateServiceAccountDto, UpdateSystemRequestDto } from './update-system.request.dto.js';
import type { SystemEntity } from '../storage/system.entity.js';
import type { SecretHolder, SystemSecrets } from '../secrets/system-secrets.js';
import { AuthorizationType } from '../model/system.types.js';
import { SecretRequiredError } from '../model/systems.errors.js';

/** The columns of a connection. */
export type StoredConnection = Pick<
  SystemEntity,
  'baseUrl' | 'authorizationType' | 'clientId' | 'clientSecret' | 'identityProviderUrl'
>;

const CREDENTIALS = ['clientId', 'clientSecret', 'identityProviderUrl'] as const;

/**
 * A system as it is after a change.
 * @param secrets seal a new secret, and a stored one anew where its connection changes
 * @throws ValidationFailedError when credentials are incomplete
 * @throws SecretRequiredError when a stored secret would go to another place
 * @throws SecretUnreadableError when one that is to be sealed anew cannot be opened
 */
export function changed(
  system: SystemEntity,
  change: UpdateSystemRequestDto,
  secrets: Pick<SystemSecrets, 'seal' | 'rebind'>,
): SystemEntity {
  const connection = changedConnection(system, change, secrets);
  return {
    ...system,
    ...connection,
    name: change.name ?? system.name,
    description: change.description === undefined ? system.description : (change.description ?? ''),
    connectionKey: connectionKey({
      ...connection,
      baseUrl: connection.baseUrl ?? '',
      authorizationType: connection.authorizationType ?? AuthorizationType.NoAuth,
    }),
  };
}

function changedConnection(
  system: SystemEntity,
  { baseUrl = system.baseUrl ?? '', authorization }: UpdateSystemRequestDto,
  secrets: Pick<SystemSecrets, 'seal' | 'rebind'>,
): StoredConnection {
  const type = authorization?.type ?? system.authorizationType;
  if (type !== AuthorizationType.ServiceAccount) {
    const none = { clientId: null, clientSecret: null, identityProviderUrl: null };
    return { baseUrl, authorizationType: AuthorizationType.NoAuth, ...none };
  }
  const sent = authorization?.configuration ?? {};
  const next = { baseUrl, authorizationType: type, ...merged(system, sent) };
  requireComplete(next);
  if (sent.clientSecret === undefined && goesElsewhere(system, next)) {
    throw new SecretRequiredError();
  }
  return { ...next, clientSecret: sealedFor({ ...next, id: system.id }, { system, sent }, secrets) };
}

/** The secret as it was sent, or as it is stored. */
function merged(
  stored: SystemEntity,
  sent: UpdateServiceAccountDto,
): Pick<StoredConnection, 'clientId' | 'clientSecret' | 'identityProviderUrl'> {
  return {
    clientId: sent.clientId ?? stored.clientId,
    clientSecret: sent.clientSecret ?? stored.clientSecret,
    identityProviderUrl: sent.identityProviderUrl ?? stored.identityProviderUrl,
  };
}

function sealedFor(
  next: SecretHolder,
  { system, sent }: { system: SystemEntity; sent: UpdateServiceAccountDto },
  secrets: Pick<SystemSecrets, 'seal' | 'rebind'>,
): string | null {
  if (sent.clientSecret !== undefined) {
    return secrets.seal(next, sent.clientSecret);
  }
  return system.clientSecret === null ? null : secrets.rebind(system, next, system.clientSecret);
}

function requireComplete(connection: StoredConnection): void {
  const missing: FieldProblem[] = CREDENTIALS.filter((name) => connection[name] === null).map((name) => ({
    field: `authorization.configuration.${name}`,
    rule: 'is required for SERVICE_ACCOUNT',
  }));
  if (missing.length > 0) {
    throw new ValidationFailedError(missing);
  }
}

/** Whether a secret that was given for one connection would leave for another place with the other one. */
export function goesElsewhere(before: StoredConnection, after: StoredConnection): boolean {
  return (
    !sameUrl(before.baseUrl, after.baseUrl) || !sameUrl(before.identityProviderUrl, after.identityProviderUrl)
  );
}

function sameUrl(one: string | null, other: string | null): boolean {
  return one === other || (one !== null && other !== null && new URL(one).href === new URL(other).href);
}
