import { createHash } from 'node:crypto';
import { type Connection, type SystemTls, SystemType, AuthorizationType } from './system.types.js';

/** What is public about a connection. @default none of certificates and headers */
type ConnectionParts = Omit<Connection, 'clientSecret' | 'headers' | 'headerNames' | keyof SystemTls> &
  Partial<Omit<SystemTls, 'clientKey'> & Pick<Connection, 'headerNames'>>;

/**
 * Hash that finds the systems of a connection test. It is equal for URLs that RFC 3986, section 6.2 calls equivalent (case of
 * scheme and host, default port, dot segments).
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
    // Names of headers have no case.
    headerNames === null ? null : headerNames.toLowerCase(),
  ];
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex');
}

/** The key of a stored system; null where nothing looks for it: only MCP systems are tested. */
export function connectionKeyOf(
  system: { type: SystemType } & { [Part in keyof ConnectionParts]: ConnectionParts[Part] | null },
): string | null {
  const { type, baseUrl, authorizationType } = system;
  return type === SystemType.Mcp && baseUrl !== null && authorizationType !== null
    ? connectionKey({ ...system, baseUrl, authorizationType })
    : null;
}

/** How an API key is sent: `X-API-Key: KEY`, or with a scheme `Authorization: Bearer KEY`. */
interface ApiKeyOptions {
  headerName: string;
  scheme: string | null;
}

/** What an assertion of a service account is signed with (RFC 7523). */
export interface PrivateKeyOptions {
  algorithm: string;
  keyId: string | null;
}

/** What is known of a service account besides its secret. */
interface AccountOptions {
  /** Null with a client secret. */
  key: PrivateKeyOptions | null;
  /** What the token is to grant (RFC 6749, section 3.3); null leaves it to the token endpoint. */
  scope: string | null;
  /** Extra fields of the token request; null without any. */
  tokenParameters: Readonly<Record<string, string>> | null;
}

const AUTHORIZATION = 'Authorization';
const BEARER = 'Bearer';

export type CredentialColumns = Pick<Connection, 'clientId' | 'identityProviderUrl' | 'credentialOptions'>;

/** What requests and packages say of credentials, besides the secret. */
export interface CredentialConfiguration {
  readonly clientId?: string | null | undefined;
  readonly identityProviderUrl?: string | null | undefined;
  readonly scope?: string | null | undefined;
  readonly tokenParameters?: Readonly<Record<string, string>> | null | undefined;
  readonly headerName?: string | undefined;
  readonly scheme?: string | null | undefined;
}

/** Returns checked credentials as they are stored. @param key that a service account signs with */
export function credentialColumns(
  type: AuthorizationType,
  configuration: CredentialConfiguration = {},
  key: PrivateKeyOptions | null = null,
): CredentialColumns {
  const none = { clientId: null, identityProviderUrl: null, credentialOptions: null };
  if (type !== AuthorizationType.ServiceAccount) {
    // Of NO_AUTH it can be anything.
    return type === AuthorizationType.NoAuth
      ? none
      : { ...none, credentialOptions: apiKeyText(configuration) };
  }
  const { clientId = null, identityProviderUrl = null, scope = null, tokenParameters = null } = configuration;
  return { clientId, identityProviderUrl, credentialOptions: accountText({ key, scope, tokenParameters }) };
}

/** As they are stored: the members in one order, with the defaults: `Authorization` with `Bearer`, any other header without a scheme. */
export function apiKeyText({
  headerName = AUTHORIZATION,
  scheme = headerName.toLowerCase() === AUTHORIZATION.toLowerCase() ? BEARER : null,
}: CredentialConfiguration): string {
  return JSON.stringify({ headerName, scheme });
}

/** As they are stored: the members in one order; null where there are none. */
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

/** The options of a system with an API key; null for any other. */
export function apiKeyOptionsOf({ authorizationType, credentialOptions }: Holder): ApiKeyOptions | null {
  return authorizationType === AuthorizationType.ApiKey && credentialOptions !== null
    ? (JSON.parse(credentialOptions) as ApiKeyOptions)
    : null;
}

/** The options of a service account; those of one without any for any other system. */
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

/** Without what makes no difference: names of headers and schemes have no case. */
function comparableOptions({ authorizationType, credentialOptions }: Holder): string | null {
  return authorizationType === AuthorizationType.ApiKey
    ? (credentialOptions?.toLowerCase() ?? null)
    : credentialOptions;
}

type Holder = { authorizationType: AuthorizationType | null } & Pick<Connection, 'credentialOptions'>;

/** The static headers of a system: the values as text to be sealed, and the names. Values are null where a package named headers only. */
export type HeaderColumns = Pick<Connection, 'headers' | 'headerNames'>;

/** Returns checked headers as they are stored: in the order of their names, so that equal headers are equal texts. */
export function headerColumns(headers: Readonly<Record<string, string>> | null | undefined): HeaderColumns {
  const members = Object.entries(headers ?? {}).toSorted(([one], [other]) => byName(one, other));
  return members.length === 0
    ? { headers: null, headerNames: null }
    : {
        headers: JSON.stringify(Object.fromEntries(members)),
        headerNames: namesText(Object.keys(headers ?? {})),
      };
}

/** Returns checked names as they are stored; null without any. */
export function namesText(names: readonly string[]): string | null {
  return names.length === 0 ? null : JSON.stringify(names.toSorted(byName));
}

/** Returns the names of stored headers; empty without any. */
export function headerNamesOf({ headerNames }: Pick<HeaderColumns, 'headerNames'>): string[] {
  return JSON.parse(headerNames ?? '[]') as string[];
}

/** Returns opened headers as calls send them; a value that was never set is empty. Undefined without headers. */
export function openedHeaders(columns: HeaderColumns): Record<string, string> | undefined {
  const values = JSON.parse(columns.headers ?? '{}') as Record<string, string>;
  const names = headerNamesOf(columns);
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, values[name] ?? '']));
}

function byName(one: string, other: string): number {
  return one.toLowerCase() < other.toLowerCase() ? -1 : 1;
}
