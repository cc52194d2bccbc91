import { createHash } from 'node:crypto';
import { type Connection, type SystemTls, SystemType, AuthorizationType } from './system.types.js';

/** Parts of a connection that are not secret. @default no certificates and no headers */
type ConnectionParts = Omit<Connection, 'clientSecret' | 'headers' | 'headerNames' | keyof SystemTls> &
  Partial<Omit<SystemTls, 'clientKey'> & Pick<Connection, 'headerNames'>>;

/**
 * Returns the hash by which a connection test finds systems with the same connection. Equal for equivalent URLs (RFC 3986, section 6.2:
 * case of scheme and host, default port, dot segments).
 * @returns 64 hexadecimal digits
 */
export function connectionKey(parts: ConnectionParts): string {
  const { baseUrl, authorizationType, clientId, identityProviderUrl } = parts;
  const { caCertificates = null, clientCertificate = null, headerNames = null } = parts;
  const canonical = [
    new URL(baseUrl).href,
    authorizationType,
    clientId,
    identityProviderUrl === null ? null : new URL(identityProviderUrl).href,
    caCertificates,
    clientCertificate,
    comparableOptions(parts),
    // Header names are case-insensitive.
    headerNames === null ? null : headerNames.toLowerCase(),
  ];
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex');
}

/** Returns the connection key of a stored system; null for systems that are not tested, which are all but MCP systems. */
export function connectionKeyOf(
  system: { type: SystemType } & { [Part in keyof ConnectionParts]: ConnectionParts[Part] | null },
): string | null {
  const { type, baseUrl, authorizationType } = system;
  return type === SystemType.Mcp && baseUrl !== null && authorizationType !== null
    ? connectionKey({ ...system, baseUrl, authorizationType })
    : null;
}

/** How to send an API key: `X-API-Key: KEY`, or with a scheme `Authorization: Bearer KEY`. */
interface ApiKeyOptions {
  headerName: string;
  scheme: string | null;
}

/** Options for signing assertions of a service account (RFC 7523). */
export interface PrivateKeyOptions {
  algorithm: string;
  keyId: string | null;
}

/** Options of a service account, without its secret. */
interface AccountOptions {
  /** Null with a client secret. */
  key: PrivateKeyOptions | null;
  /** Requested scope (RFC 6749, section 3.3); null leaves it to the token endpoint. */
  scope: string | null;
  /** Extra fields of the token request; null without any. */
  tokenParameters: Readonly<Record<string, string>> | null;
}

const AUTHORIZATION = 'Authorization';
const BEARER = 'Bearer';

export type CredentialColumns = Pick<Connection, 'clientId' | 'identityProviderUrl' | 'credentialOptions'>;

/** Credentials in requests and packages, without the secret. */
export interface CredentialConfiguration {
  readonly clientId?: string | null | undefined;
  readonly identityProviderUrl?: string | null | undefined;
  readonly scope?: string | null | undefined;
  readonly tokenParameters?: Readonly<Record<string, string>> | null | undefined;
  readonly headerName?: string | undefined;
  readonly scheme?: string | null | undefined;
}

/** Converts validated credentials to columns. @param key signing options of a service account */
export function credentialColumns(
  type: AuthorizationType,
  configuration: CredentialConfiguration = {},
  key: PrivateKeyOptions | null = null,
): CredentialColumns {
  const none = { clientId: null, identityProviderUrl: null, credentialOptions: null };
  if (type !== AuthorizationType.ServiceAccount) {
    // The configuration of NO_AUTH is not validated, so it is ignored.
    return type === AuthorizationType.NoAuth
      ? none
      : { ...none, credentialOptions: apiKeyText(configuration) };
  }
  const { clientId = null, identityProviderUrl = null, scope = null, tokenParameters = null } = configuration;
  return { clientId, identityProviderUrl, credentialOptions: accountText({ key, scope, tokenParameters }) };
}

/** Serializes API key options in canonical form. Defaults: `Authorization` with `Bearer`, other headers without a scheme. */
export function apiKeyText({
  headerName = AUTHORIZATION,
  scheme = headerName.toLowerCase() === AUTHORIZATION.toLowerCase() ? BEARER : null,
}: CredentialConfiguration): string {
  return JSON.stringify({ headerName, scheme });
}

/** Serializes service account options in canonical form; null when there are none. */
export function accountText({ key, scope, tokenParameters }: AccountOptions): string | null {
  const parameters = Object.entries(tokenParameters ?? {}).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const members = {
    ...(key === null ? {} : { algorithm: key.algorithm, keyId: key.keyId }),
    ...(scope === null ? {} : { scope }),
    ...(parameters.length === 0 ? {} : { tokenParameters: Object.fromEntries(parameters) }),
  };
  return Object.keys(members).length === 0 ? null : JSON.stringify(members);
}

/** Reads the options of a system with an API key; null for other systems. */
export function apiKeyOptionsOf({ authorizationType, credentialOptions }: Holder): ApiKeyOptions | null {
  return authorizationType === AuthorizationType.ApiKey && credentialOptions !== null
    ? (JSON.parse(credentialOptions) as ApiKeyOptions)
    : null;
}

/** Reads the options of a service account; all null for other systems. */
export function accountOptionsOf({ authorizationType, credentialOptions }: Holder): AccountOptions {
  const isAccount = authorizationType === AuthorizationType.ServiceAccount;
  const {
    algorithm,
    keyId = null,
    scope = null,
    tokenParameters = null,
  } = JSON.parse((isAccount ? credentialOptions : null) ?? '{}') as Partial<
    PrivateKeyOptions & AccountOptions
  >;
  return { key: algorithm === undefined ? null : { algorithm, keyId }, scope, tokenParameters };
}

/** Returns options in a form for comparison. Header names and schemes are case-insensitive. */
function comparableOptions({ authorizationType, credentialOptions }: Holder): string | null {
  return authorizationType === AuthorizationType.ApiKey
    ? (credentialOptions?.toLowerCase() ?? null)
    : credentialOptions;
}

type Holder = { authorizationType: AuthorizationType | null } & Pick<Connection, 'credentialOptions'>;

/** Static headers of a system: values as JSON text to be sealed, and names. Values are null when a package set only the names. */
export type HeaderColumns = Pick<Connection, 'headers' | 'headerNames'>;

/** Converts validated headers to columns, sorted by name, so that equal headers have equal texts. */
export function headerColumns(headers: Readonly<Record<string, string>> | null | undefined): HeaderColumns {
  const members = Object.entries(headers ?? {}).toSorted(([one], [other]) => byName(one, other));
  return members.length === 0
    ? { headers: null, headerNames: null }
    : {
        headers: JSON.stringify(Object.fromEntries(members)),
        headerNames: namesText(Object.keys(headers ?? {})),
      };
}

/** Serializes validated header names; null when there are none. */
export function namesText(names: readonly string[]): string | null {
  return names.length === 0 ? null : JSON.stringify(names.toSorted(byName));
}

/** Returns the names of stored headers. */
export function headerNamesOf({ headerNames }: Pick<HeaderColumns, 'headerNames'>): string[] {
  return JSON.parse(headerNames ?? '[]') as string[];
}

/** Returns headers in plain text, to send with calls. A value that was never set is empty. Undefined without headers. */
export function openedHeaders(columns: HeaderColumns): Record<string, string> | undefined {
  const values = JSON.parse(columns.headers ?? '{}') as Record<string, string>;
  const names = headerNamesOf(columns);
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, values[name] ?? '']));
}

function byName(one: string, other: string): number {
  return one.toLowerCase() < other.toLowerCase() ? -1 : 1;
}
