import type { AppVersionKey } from '../../apps/apps.types.js';

/** Kinds of system (docs/contract.md, section 2.1). */
export enum SystemType {
  Rest = 'REST',
  NoSqlDb = 'NOSQL_DB',
  Mcp = 'MCP',
}

/** How an MCP server is reached (docs/contract.md, section 2.1). API_KEY is an extension. */
export enum AuthorizationType {
  NoAuth = 'NO_AUTH',
  ServiceAccount = 'SERVICE_ACCOUNT',
  ApiKey = 'API_KEY',
}

/** What is read of a tool to show it as part of its system. */
export interface ToolRow {
  id: string;
  name: string;
  description: string;
  /** JSON text, as it is stored. */
  inputSchema: string;
  /** JSON text, as it is stored; null where the server declares none. */
  outputSchema: string | null;
  enabled: boolean;
}

/** Names an MCP system by its place in the interface. */
export interface SystemKey extends AppVersionKey {
  resourceId: string;
}

/** What a list of systems shall hold besides the systems of the version. */
export interface ListOptions {
  /** Kinds of dependency whose systems are added; unknown kinds add nothing. */
  dependencyTypes: string[];
  withManifest: boolean;
}

/** What a system adds to TLS, in PEM format; null where it adds nothing. */
export interface SystemTls {
  caCertificates: string | null;
  /** There is no key without a certificate. A certificate can lack its key, which went with a change of the address. */
  clientCertificate: string | null;
  clientKey: string | null;
}

/** How an MCP server is reached; the four of credentials are null for NO_AUTH. */
export interface Connection extends SystemTls {
  baseUrl: string;
  authorizationType: AuthorizationType;
  clientId: string | null;
  /** The client secret, private key or API key. */
  clientSecret: string | null;
  identityProviderUrl: string | null;
  /** What else is known of the credential, as text (credential-options.ts); null where it is a client secret. */
  credentialOptions: string | null;
  /** Static headers as JSON text (static-headers.ts); null where there are none, or their values were never set. */
  headers: string | null;
  /** Names of the static headers as JSON text; null without any. */
  headerNames: string | null;
}

/** Columns of a system that callers and packages set. */
export const SETTABLE_COLUMNS = [
  'name',
  'description',
  'baseUrl',
  'authorizationType',
  'clientId',
  'clientSecret',
  'identityProviderUrl',
  'caCertificates',
  'clientCertificate',
  'clientKey',
  'credentialOptions',
  'headers',
  'headerNames',
  'timeoutMs',
] as const;
