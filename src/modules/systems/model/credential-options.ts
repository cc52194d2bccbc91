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

/** As they are stored: the members in one order. */
export function privateKeyText({ algorithm, keyId }: PrivateKeyOptions): string {
  return JSON.stringify({ algorithm, keyId });
}

/** The options of a system with an API key; null for any other. */
export function apiKeyOptionsOf({ authorizationType, credentialOptions }: Holder): ApiKeyOptions | null {
  return authorizationType === AuthorizationType.ApiKey && credentialOptions !== null
    ? (JSON.parse(credentialOptions) as ApiKeyOptions)
    : null;
}

/** The options of a service account with a private key; null for any other. */
export function privateKeyOptionsOf({
  authorizationType,
  credentialOptions,
}: Holder): PrivateKeyOptions | null {
  return authorizationType === AuthorizationType.ServiceAccount && credentialOptions !== null
    ? (JSON.parse(credentialOptions) as PrivateKeyOptions)
    : null;
}

/** Without what makes no difference: names of headers and schemes have no case. */
export function comparableOptions({ authorizationType, credentialOptions }: Holder): string | null {
  return authorizationType === AuthorizationType.ApiKey
    ? (credentialOptions?.toLowerCase() ?? null)
    : credentialOptions;
}

type Holder = { authorizationType: AuthorizationType | null } & Pick<Connection, 'credentialOptions'>;
