import { ValidationFailedError, type FieldProblem } from '../../platform/errors/request.errors.js';
import { isKeyOf } from '../../platform/tls/certificates.js';
import { headerNamesRule } from '../../platform/validation/credential-rules.js';
import { type SentSecret, sentProof } from '../model/authorization.request.dto.js';
import {
  connectionKey,
  accountOptionsOf,
  apiKeyOptionsOf,
  type CredentialColumns,
  type CredentialConfiguration,
  credentialColumns,
  type PrivateKeyOptions,
  headerColumns,
  headerNamesOf,
  type HeaderColumns,
} from '../model/connection.js';
import type { UpdateSystemRequestDto } from './system.request.dto.js';
import type { SystemEntity } from '../storage/system.entity.js';
import { eachSecret, type SecretName, SECRETS, type SystemSecrets } from '../secrets/system-secrets.js';
import { AuthorizationType, SETTABLE_COLUMNS, type SystemTls } from '../model/system.types.js';
import { SecretRequiredError } from '../model/systems.errors.js';
import { tlsOf, type UpdateTlsDto } from '../model/tls.request.dto.js';

export type StoredConnection = Credentials &
  Pick<SystemEntity, 'baseUrl' | 'authorizationType'> &
  SystemTls &
  HeaderColumns;
type Credentials = CredentialColumns & Pick<SystemEntity, 'clientSecret'>;

type SentSecrets = Partial<Record<SecretName, string>>;

/** Required columns of each type, with their names in the API. */
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
 * Applies a change to a system.
 * @param secrets seals new secrets, and reseals stored ones when their connection changes
 * @throws ValidationFailedError when credentials are incomplete, a key does not belong to the certificate, or a header is that of the API key
 * @throws SecretRequiredError when a stored secret would be sent to another destination
 * @throws SecretUnreadableError when a stored secret cannot be opened to reseal it
 */
export function applyChange(
  system: SystemEntity,
  change: UpdateSystemRequestDto,
  secrets: Pick<SystemSecrets, 'seal' | 'rebind'>,
): SystemEntity {
  const sent: SentSecrets = {
    ...sentSecret('clientSecret', sentCredential(change).secret),
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

/** Returns the names of changed columns. A secret that was only resealed for a changed connection does not count. */
export function changedFields(
  before: SystemEntity,
  after: SystemEntity,
  change: UpdateSystemRequestDto,
): string[] {
  const { name, secret } = sentCredential(change);
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

/** Returns the secret in a request. The configuration of NO_AUTH has none. */
function sentCredential({ authorization }: UpdateSystemRequestDto): ReturnType<typeof sentProof> {
  const { type, configuration } = authorization ?? {};
  return sentProof(type === AuthorizationType.NoAuth ? {} : configuration);
}

/** Returns the changed address and credentials, with the new secret in plain text or the stored one sealed. */
function changedAccount(
  system: SystemEntity,
  change: UpdateSystemRequestDto,
): Credentials & { baseUrl: string; authorizationType: AuthorizationType } {
  const { authorization } = change;
  const baseUrl = change.baseUrl ?? system.baseUrl ?? '';
  const type = authorization?.type ?? system.authorizationType ?? AuthorizationType.NoAuth;
  if (type === AuthorizationType.NoAuth) {
    return { baseUrl, authorizationType: type, ...credentialColumns(type), clientSecret: null };
  }
  const stored = ofType(type, system);
  const sent: CredentialConfiguration & SentSecret = authorization?.configuration ?? {};
  const configuration = { ...knownOf(stored, sent), ...withoutUndefined(sent) };
  const account = {
    ...credentialColumns(type, configuration, keyAfter(stored, sent)),
    clientSecret: sentProof(sent).secret ?? stored.clientSecret,
  };
  requireComplete(account, type);
  return { baseUrl, authorizationType: type, ...account };
}

/** Drops the stored credentials when the type changes. */
function ofType(type: AuthorizationType, system: SystemEntity): SystemEntity {
  return system.authorizationType === type
    ? system
    : { ...system, ...credentialColumns(AuthorizationType.NoAuth), clientSecret: null };
}

/** Returns the stored credentials that apply unless the request replaces them. A new header also resets the scheme. */
function knownOf(stored: SystemEntity, { headerName }: CredentialConfiguration): CredentialConfiguration {
  const { clientId, identityProviderUrl } = stored;
  const { scope, tokenParameters } = accountOptionsOf(stored);
  const sending = headerName === undefined ? apiKeyOptionsOf(stored) : null;
  return { clientId, identityProviderUrl, scope, tokenParameters, ...sending };
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

/** Returns the new signing options. @throws ValidationFailedError for a key id without a private key */
function keyAfter(stored: SystemEntity, sent: SentSecret): PrivateKeyOptions | null {
  const { secret, key: sentKey } = sentProof(sent);
  if (secret !== undefined) {
    return sentKey;
  }
  const { key } = accountOptionsOf(stored);
  if (sent.keyId !== undefined && key === null) {
    throw new ValidationFailedError([
      { field: 'authorization.configuration.keyId', rule: 'requires a privateKey' },
    ]);
  }
  return key && { ...key, keyId: sent.keyId ?? key.keyId };
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

/**
 * Returns the changed certificates, with the new key in plain text or the stored one sealed.
 * @param tls change; null removes all
 * @throws ValidationFailedError when the key does not belong to the certificate
 */
function changedTls(
  stored: SystemTls,
  tls: UpdateTlsDto | null | undefined,
  sentKey: string | undefined,
): SystemTls {
  if (tls === null) {
    return { caCertificates: null, clientCertificate: null, clientKey: null };
  }
  const { caCertificates, clientCertificate } = tls ?? {};
  const sent = tlsOf({
    caCertificates: caCertificates ?? undefined,
    clientCertificate: clientCertificate ?? undefined,
  });
  const certificate = clientCertificate === undefined ? stored.clientCertificate : sent.clientCertificate;
  requireOwnKey(certificate, sentKey);
  return {
    caCertificates: caCertificates === undefined ? stored.caCertificates : sent.caCertificates,
    clientCertificate: certificate,
    clientKey: certificate === null ? null : (sentKey ?? stored.clientKey),
  };
}

function requireOwnKey(certificate: string | null, key: string | undefined): void {
  if (key !== undefined && (certificate === null || !isKeyOf(key, certificate))) {
    const rule =
      certificate === null ? 'requires a clientCertificate' : 'must be the key of clientCertificate';
    throw new ValidationFailedError([{ field: 'tls.clientKey', rule }]);
  }
}

/** Checks that static headers do not include the header of the API key. @throws ValidationFailedError */
function requireOwnHeader(
  connection: HeaderColumns & Pick<SystemEntity, 'authorizationType' | 'credentialOptions'>,
): void {
  const rule = headerNamesRule(headerNamesOf(connection), apiKeyOptionsOf(connection)?.headerName);
  if (rule !== undefined) {
    throw new ValidationFailedError([{ field: 'headers', rule }]);
  }
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
      changesDestination(before, after),
  );
  if (needed.length > 0) {
    const isKey = after.authorizationType === AuthorizationType.ApiKey;
    const names = needed.map((name) => (isKey && name === 'clientSecret' ? 'apiKey' : name));
    throw new SecretRequiredError(names, before.caCertificates !== after.caCertificates);
  }
}

/**
 * Returns whether a change of the connection would send secrets to another server or token endpoint, or trust other authorities there.
 * Removing the token endpoint is no such change.
 */
export function changesDestination(before: StoredConnection, after: StoredConnection): boolean {
  return (
    !sameUrl(before.baseUrl, after.baseUrl) ||
    (after.identityProviderUrl !== null && !sameUrl(before.identityProviderUrl, after.identityProviderUrl)) ||
    before.caCertificates !== after.caCertificates
  );
}

function sameUrl(one: string | null, other: string | null): boolean {
  return one === other || (one !== null && other !== null && new URL(one).href === new URL(other).href);
}
