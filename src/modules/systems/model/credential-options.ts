import { AuthorizationType, type Connection } from './system.types.js';

/** How an API key is sent: `X-API-Key: KEY`, or with a scheme `Authorization: Bearer KEY`. */
export interface ApiKeyOptions {
  headerName: string;
  scheme: string | null;
}

/** What an assertion of a service account is signed with (RFC 7523). */
export interface PrivateKeyOptions {
  algorithm: string;
  keyId: string | null;
}

/** What is known of a service account besides its secret. */
export interface AccountOptions {
  /** Null with a client secret. */
  key: PrivateKeyOptions | null;
  /** What the token is to grant (RFC 6749, section 3.3); null leaves it to the token endpoint. */
  scope: string | null;
  /** Extra fields of the token request; null without any. */
  tokenParameters: Readonly<Record<string, string>> | null;
}

const AUTHORIZATION = 'Authorization';
const BEARER = 'Bearer';

/** How an API key is sent, with the defaults: `Authorization` with `Bearer`, any other header without a scheme. */
export function apiKeyOptions({
  headerName = AUTHORIZATION,
  scheme = headerName.toLowerCase() === AUTHORIZATION.toLowerCase() ? BEARER : null,
}: {
  headerName?: string | undefined;
  scheme?: string | null | undefined;
}): ApiKeyOptions {
  return { headerName, scheme };
}

/** As they are stored: the members in one order. */
export function apiKeyText({ headerName, scheme }: ApiKeyOptions): string {
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
export function comparableOptions({ authorizationType, credentialOptions }: Holder): string | null {
  return authorizationType === AuthorizationType.ApiKey
    ? (credentialOptions?.toLowerCase() ?? null)
    : credentialOptions;
}

type Holder = { authorizationType: AuthorizationType | null } & Pick<Connection, 'credentialOptions'>;
