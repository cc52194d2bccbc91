import { connectionKey } from '../model/connection.js';
import type { SystemEntity } from '../storage/system.entity.js';
import { goesElsewhere } from '../registration/system-change.js';
import type { SystemSecrets } from '../secrets/system-secrets.js';
import { AuthorizationType, SystemType } from '../model/system.types.js';
import type { DeliveredColumns, DeliveredSystem } from './systems-import.types.js';

const COMPARED = [
  'resourceName',
  'name',
  'description',
  'baseUrl',
  'authorizationType',
  'clientId',
  'clientSecret',
  'identityProviderUrl',
] as const;

/** What a package says of a system, as columns. */
export function columnsOf({
  type,
  resourceName,
  name,
  description,
  baseUrl,
  authorization,
}: DeliveredSystem): DeliveredColumns {
  const account =
    authorization.type === AuthorizationType.ServiceAccount
      ? authorization.configuration
      : { clientId: null, identityProviderUrl: null };
  const columns = { type, resourceName, name, description, baseUrl, ...account };
  const authorizationType = authorization.type;
  // Only MCP systems are looked for by their connection.
  const key = type === SystemType.Mcp ? connectionKey({ baseUrl, authorizationType, ...account }) : null;
  return { ...columns, authorizationType, connectionKey: key };
}

/**
 * A stored system as a package wants it. It keeps its ids and tools, its description where the package has none (a
 * connection test may have filled it), and its secret, sealed for its new connection, unless that leads elsewhere.
 * @throws SecretUnreadableError
 */
export function delivered(
  stored: SystemEntity,
  columns: DeliveredColumns,
  secrets: Pick<SystemSecrets, 'rebind'>,
): SystemEntity {
  const isAccount = columns.authorizationType === AuthorizationType.ServiceAccount;
  const keepsSecret = isAccount && !goesElsewhere(stored, { ...stored, ...columns });
  return {
    ...stored,
    ...columns,
    description: columns.description === '' ? stored.description : columns.description,
    clientSecret:
      keepsSecret && stored.clientSecret !== null
        ? secrets.rebind(stored, { ...stored, ...columns }, stored.clientSecret)
        : null,
  };
}

/** Whether two states of one system differ in anything that a package can change. */
export function differs(before: SystemEntity, after: SystemEntity): boolean {
  return COMPARED.some((field) => before[field] !== after[field]);
}

/** Whether the connection of a system lacks the secret that it needs. */
export function lacksSecret({
  authorizationType,
  clientSecret,
}: Pick<SystemEntity, 'authorizationType' | 'clientSecret'>): boolean {
  return authorizationType === AuthorizationType.ServiceAccount && clientSecret === null;
}
