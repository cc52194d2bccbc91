import { ValidationFailedError, type FieldProblem } from '../../../common/errors/request.errors.js';
import { headerNamesRule } from '../../../common/validation/credential-rules.js';
import { NO_CREDENTIALS, signingCredential } from '../model/authorization.request.dto.js';
import {
  connectionKey,
  accountOptionsOf,
  accountText,
  apiKeyOptions,
  apiKeyOptionsOf,
  apiKeyText,
  type PrivateKeyOptions,
  headerColumns,
  headerNamesOf,
  type HeaderColumns,
} from '../model/connection.js';
import {
  UpdateApiKeyDto,
  type UpdateServiceAccountDto,
  type UpdateSystemRequestDto,
} from './system.request.dto.js';
import type { SystemEntity } from '../storage/system.entity.js';
import { eachSecret, type SecretName, SECRETS, type SystemSecrets } from '../secrets/system-secrets.js';
import { AuthorizationType, SETTABLE_COLUMNS } from '../model/system.types.js';
import { SecretRequiredError } from '../model/systems.errors.js';
import { tlsOf } from '../model/tls.request.dto.js';
import type { ReplacedSecret } from './client-secret.dto.js';
import { changedTls, type StoredTls } from './tls-change.js';

/** The columns of a connection. */
export type StoredConnection = Credentials &
  Pick<SystemEntity, 'baseUrl' | 'authorizationType'> &
  StoredTls &
  HeaderColumns;
type Credentials = Pick<SystemEntity, keyof typeof NO_CREDENTIALS>;

/** Secrets as they were sent. */
type SentSecrets = Partial<Record<SecretName, string>>;

/** What each type needs, by column, with the names that callers know. */
const REQUIRED = {
  [AuthorizationType.NoAuth]: [],
  [AuthorizationType.ServiceAccount]: [
    ['clientId', 'clientId'],
    ['clientSecret', 'clientSecret'],
    ['identityProviderUrl', 'identityProviderUrl'],
  ],
  [AuthorizationType.ApiKey]: [['clientSecret', 'apiKey']],
} as const;

/**
 * A system as it is after a change.
 * @param secrets seal new secrets, and stored ones anew where their connection changes
 * @throws ValidationFailedError when credentials are incomplete, a key is not that of the certificate, or a header is that of the API key
 * @throws SecretRequiredError when a stored secret would go to another place
 * @throws SecretUnreadableError when one that is to be sealed anew cannot be opened
 */
export function changed(
  system: SystemEntity,
  change: UpdateSystemRequestDto,
  secrets: Pick<SystemSecrets, 'seal' | 'rebind'>,
): SystemEntity {
  const sent: SentSecrets = {
    ...sentSecret('clientSecret', sentCredential(change)?.secret),
    ...sentSecret('clientKey', tlsOf({ clientKey: change.tls?.clientKey }).clientKey),
    ...sentSecret('headers', headerColumns(change.headers).headers),
  };
  const { headers, headerNames } = system;
  const connection = {
    ...changedAccount(system, change),
    ...changedTls(system, change.tls, sent.clientKey),
    ...(change.headers === undefined ? { headers, headerNames } : headerColumns(change.headers)),
  };
  requireOwnHeader(connection);
  requireSecrets(system, connection, sent);
  const next = { ...system, ...connection };
  return {
    ...next,
    ...eachSecret((name) => sealedFor(name, { system, next, sent }, secrets)),
    timeoutMs: change.timeoutMs === undefined ? system.timeoutMs : change.timeoutMs,
    name: change.name ?? system.name,
    description: change.description === undefined ? system.description : (change.description ?? ''),
    connectionKey: connectionKey(connection),
  };
}

/** Names of the columns that a change changes. A secret that was only sealed anew for a changed connection is the same. */
export function changedFields(
  before: SystemEntity,
  after: SystemEntity,
  change: UpdateSystemRequestDto,
): string[] {
  const { name = 'clientSecret', secret } = sentCredential(change) ?? {};
  const sent: Partial<Record<string, string | undefined>> = {
    clientSecret: secret,
    clientKey: change.tls?.clientKey,
    headers: headerColumns(change.headers).headers ?? undefined,
  };
  const isSameSecret = (field: string): boolean =>
    field in sent && after[field as SecretName] !== null && sent[field] === undefined;
  return SETTABLE_COLUMNS.filter((field) => before[field] !== after[field] && !isSameSecret(field)).map(
    (field) => (field === 'clientSecret' ? name : field),
  );
}

/** The secret of an account, as it was sent. One that goes with a change of the type is not the one that comes. */
function sentCredential({
  authorization,
}: UpdateSystemRequestDto): { name: ReplacedSecret; secret: string } | undefined {
  const { type, configuration = {} } = authorization ?? {};
  const { clientSecret, privateKey, apiKey } = configuration as UpdateApiKeyDto & UpdateServiceAccountDto;
  if (type === AuthorizationType.NoAuth) {
    return undefined;
  }
  if (apiKey !== undefined) {
    return { name: 'apiKey', secret: apiKey };
  }
  if (privateKey !== undefined) {
    return { name: 'privateKey', secret: signingCredential(privateKey, undefined).secret };
  }
  return clientSecret === undefined ? undefined : { name: 'clientSecret', secret: clientSecret };
}

/** Where and as whom; the secret as it was sent, or as it is stored. */
function changedAccount(
  system: SystemEntity,
  { baseUrl = system.baseUrl ?? '', authorization }: UpdateSystemRequestDto,
): Credentials & {
  baseUrl: string;
  authorizationType: AuthorizationType;
} {
  const { type = system.authorizationType, configuration = {} } = authorization ?? {};
  if (type === null || type === AuthorizationType.NoAuth) {
    return { baseUrl, authorizationType: AuthorizationType.NoAuth, ...NO_CREDENTIALS };
  }
  // A secret of one kind is none of another.
  const stored = { ...system, ...(system.authorizationType === type ? {} : NO_CREDENTIALS) };
  const { clientId, clientSecret, identityProviderUrl, credentialOptions } = stored;
  const known = { clientId, clientSecret, identityProviderUrl, credentialOptions };
  const sent =
    type === AuthorizationType.ApiKey
      ? sentApiKey(stored, configuration as UpdateApiKeyDto)
      : sentAccount(stored, configuration as UpdateServiceAccountDto);
  const account: Credentials = { ...known, ...sent };
  requireComplete(account, type);
  return { baseUrl, authorizationType: type, ...account };
}

function sentApiKey(
  stored: SystemEntity,
  { headerName, scheme, apiKey }: UpdateApiKeyDto,
): Partial<Credentials> {
  const kept = headerName === undefined ? (apiKeyOptionsOf(stored) ?? {}) : { headerName };
  const options = apiKeyOptions({ ...kept, ...(scheme === undefined ? {} : { scheme }) });
  return {
    credentialOptions: apiKeyText(options),
    ...(apiKey === undefined ? {} : { clientSecret: apiKey }),
  };
}

function sentSecret(name: SecretName, secret: string | null | undefined): SentSecrets {
  return typeof secret === 'string' ? { [name]: secret } : {};
}

function sealedFor(
  name: SecretName,
  { system, next, sent }: { system: SystemEntity; next: SystemEntity; sent: SentSecrets },
  secrets: Pick<SystemSecrets, 'seal' | 'rebind'>,
): string | null {
  const [secret, stored] = [sent[name], system[name]];
  if (next[name] === null) {
    return null;
  }
  if (secret !== undefined) {
    return secrets.seal(next, secret, name);
  }
  return stored === null ? null : secrets.rebind(system, next, stored, name);
}

/** @throws ValidationFailedError */
function requireOwnHeader(
  connection: HeaderColumns & Pick<SystemEntity, 'authorizationType' | 'credentialOptions'>,
): void {
  const rule = headerNamesRule(headerNamesOf(connection), apiKeyOptionsOf(connection)?.headerName);
  if (rule !== undefined) {
    throw new ValidationFailedError([{ field: 'headers', rule }]);
  }
}

function sentAccount(stored: SystemEntity, configuration: UpdateServiceAccountDto): Partial<Credentials> {
  const { clientId, identityProviderUrl, scope, tokenParameters } = configuration;
  const { secret, key } = sentProof(stored, configuration);
  const options = accountOptionsOf(stored);
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(identityProviderUrl === undefined ? {} : { identityProviderUrl }),
    ...(secret === undefined ? {} : { clientSecret: secret }),
    credentialOptions: accountText({
      key,
      scope: scope === undefined ? options.scope : scope,
      tokenParameters: tokenParameters === undefined ? options.tokenParameters : tokenParameters,
    }),
  };
}

/** The secret as sent, and the key to sign with from now on. @throws ValidationFailedError for the id of no key */
function sentProof(
  stored: SystemEntity,
  { clientSecret, privateKey, keyId }: UpdateServiceAccountDto,
): { secret?: string; key: PrivateKeyOptions | null } {
  if (privateKey !== undefined) {
    return signingCredential(privateKey, keyId);
  }
  if (clientSecret !== undefined) {
    return { secret: clientSecret, key: null };
  }
  const { key } = accountOptionsOf(stored);
  if (keyId !== undefined && key === null) {
    throw new ValidationFailedError([
      { field: 'authorization.configuration.keyId', rule: 'needs a privateKey' },
    ]);
  }
  return { key: key === null ? null : { ...key, keyId: keyId ?? key.keyId } };
}

function requireComplete(account: Credentials, type: AuthorizationType): void {
  const missing: FieldProblem[] = REQUIRED[type]
    .filter(([column]) => account[column] === null)
    .map(([, name]) => ({ field: `authorization.configuration.${name}`, rule: `is required for ${type}` }));
  if (missing.length > 0) {
    throw new ValidationFailedError(missing);
  }
}

function requireSecrets(before: SystemEntity, after: StoredConnection, sent: SentSecrets): void {
  const needed = SECRETS.filter(
    (name) =>
      before[name] !== null &&
      after[name] !== null &&
      sent[name] === undefined &&
      goesElsewhere(before, after),
  );
  if (needed.length > 0) {
    const isKey = after.authorizationType === AuthorizationType.ApiKey;
    const names = needed.map((name) => (isKey && name === 'clientSecret' ? 'apiKey' : name));
    throw new SecretRequiredError(names, before.caCertificates !== after.caCertificates);
  }
}

/**
 * Whether secrets that were given for one connection would leave for another place with the other one, or for a place that
 * others vouch for. A token endpoint that is gone is no place.
 */
export function goesElsewhere(before: StoredConnection, after: StoredConnection): boolean {
  return (
    !sameUrl(before.baseUrl, after.baseUrl) ||
    (after.identityProviderUrl !== null && !sameUrl(before.identityProviderUrl, after.identityProviderUrl)) ||
    before.caCertificates !== after.caCertificates
  );
}

function sameUrl(one: string | null, other: string | null): boolean {
  return one === other || (one !== null && other !== null && new URL(one).href === new URL(other).href);
}
