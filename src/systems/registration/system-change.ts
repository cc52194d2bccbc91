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

/** Names of the columns that a change changes. A secret that was only sealed anew for a changed connection is the same. */
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

/** The secret of an account, as it was sent. One that goes with a change of the type is not the one that comes. */
function sentCredential({ authorization }: UpdateSystemRequestDto): ReturnType<typeof sentProof> {
  const { type, configuration } = authorization ?? {};
  return sentProof(type === AuthorizationType.NoAuth ? {} : configuration);
}

/** Where and as whom; the secret as it was sent, or as it is stored. */
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

/** A secret of one kind is none of another. */
function ofType(type: AuthorizationType, system: SystemEntity): SystemEntity {
  return system.authorizationType === type
    ? system
    : { ...system, ...credentialColumns(AuthorizationType.NoAuth), clientSecret: null };
}

/** What is known of credentials and stays where it is not sent. A new header has a scheme of its own. */
function knownOf(stored: SystemEntity, { headerName }: CredentialConfiguration): CredentialConfiguration {
  const { clientId, identityProviderUrl } = stored;
  const { scope, tokenParameters } = accountOptionsOf(stored);
  const sending = headerName === undefined ? apiKeyOptionsOf(stored) : null;
  return { clientId, identityProviderUrl, scope, tokenParameters, ...sending };
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

/** The key to sign with from now on. @throws ValidationFailedError for the id of no key */
function keyAfter(stored: SystemEntity, sent: SentSecret): PrivateKeyOptions | null {
  const { secret, key: sentKey } = sentProof(sent);
  if (secret !== undefined) {
    return sentKey;
  }
  const { key } = accountOptionsOf(stored);
  if (sent.keyId !== undefined && key === null) {
    throw new ValidationFailedError([
      { field: 'authorization.configuration.keyId', rule: 'needs a privateKey' },
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
 * Who is trusted and what is shown after a change; the key as it was sent, or sealed as it is stored.
 * @param tls what to change: null removes all
 * @throws ValidationFailedError when the key is not that of the certificate
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
    const rule = certificate === null ? 'needs a clientCertificate' : 'must be the key of clientCertificate';
    throw new ValidationFailedError([{ field: 'tls.clientKey', rule }]);
  }
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
