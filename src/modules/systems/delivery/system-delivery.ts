import {
  connectionKeyOf,
  accountOptionsOf,
  accountText,
  credentialColumns,
  namesText,
} from '../model/connection.js';
import type { SystemEntity } from '../storage/system.entity.js';
import { goesElsewhere } from '../registration/system-change.js';
import { type SecretName, SECRETS, type SystemSecrets } from '../secrets/system-secrets.js';
import { AuthorizationType, SETTABLE_COLUMNS } from '../model/system.types.js';
import type { DeliveredColumns, DeliveredSystem } from './systems-import.types.js';

const COMPARED = ['resourceName', ...SETTABLE_COLUMNS] as const;

/** What a package says of a system, as columns. */
export function columnsOf(system: DeliveredSystem): DeliveredColumns {
  const { type, resourceName, name, description, baseUrl, authorization, tls, headers, timeoutMs } = system;
  return {
    type,
    resourceName,
    name,
    description,
    baseUrl,
    authorizationType: authorization.type,
    ...credentialColumns(authorization.type, authorization.configuration),
    ...(tls === undefined ? {} : { caCertificates: tls?.caCertificates ?? null }),
    ...(headers === undefined ? {} : { headerNames: namesText(headers) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/**
 * A stored system as a package wants it. It keeps its ids and tools, and its description where the package has none, because a
 * connection test may have filled it. It keeps its secrets, sealed for the new connection, unless that leads elsewhere.
 * @throws SecretUnreadableError
 */
export function delivered(
  stored: SystemEntity,
  columns: DeliveredColumns,
  secrets: Pick<SystemSecrets, 'rebind'>,
): SystemEntity {
  const staysHere = !goesElsewhere(stored, { ...stored, ...columns });
  const isUsed =
    columns.authorizationType === stored.authorizationType &&
    columns.authorizationType !== AuthorizationType.NoAuth;
  const keepsSecret = staysHere && isUsed && stored.clientSecret !== null;
  const merged = { ...stored, ...columns };
  const { key } = accountOptionsOf(stored);
  // A package does not say that a client signs with a private key: that comes with the key.
  const next =
    keepsSecret && key !== null
      ? { ...merged, credentialOptions: accountText({ ...accountOptionsOf(merged), key }) }
      : merged;
  const kept = (name: SecretName): string | null => {
    const sealed = stored[name];
    return staysHere && sealed !== null ? secrets.rebind(stored, next, sealed, name) : null;
  };
  return {
    ...next,
    description: columns.description === '' ? stored.description : columns.description,
    clientSecret: keepsSecret ? kept('clientSecret') : null,
    clientKey: kept('clientKey'),
    // The values are one secret, which is for these names.
    headers: next.headerNames === stored.headerNames ? kept('headers') : null,
    connectionKey: connectionKeyOf(next),
  };
}

/** Whether two states of one system differ in anything that a package can change. */
export function differs(before: SystemEntity, after: SystemEntity): boolean {
  return COMPARED.some((field) => before[field] !== after[field]);
}

/** Whether the connection of a system lacks a secret that it needs. */
export function lacksSecret(system: SystemEntity): boolean {
  const { authorizationType, clientSecret, clientCertificate, clientKey, headers, headerNames } = system;
  const needsSecret = authorizationType !== null && authorizationType !== AuthorizationType.NoAuth;
  return (
    (needsSecret && clientSecret === null) ||
    (clientCertificate !== null && clientKey === null) ||
    (headerNames !== null && headers === null)
  );
}

/** Whether a delivery took a secret away. */
export function dropsSecret(before: SystemEntity, after: SystemEntity): boolean {
  return SECRETS.some((name) => before[name] !== null && after[name] === null);
}
