import type { AppVersionKey } from '../../apps/apps.types.js';

/** Kinds of system (docs/contract.md, section 2.1). */
export enum SystemType {
  Rest = 'REST',
  NoSqlDb = 'NOSQL_DB',
  Mcp = 'MCP',
}

/** Authentication methods for MCP servers (docs/contract.md, section 2.1). API_KEY is an extension. */
export enum AuthorizationType {
  NoAuth = 'NO_AUTH',
  ServiceAccount = 'SERVICE_ACCOUNT',
  ApiKey = 'API_KEY',
}

/** Columns of a tool that are shown with its system. */
export interface ToolRow {
  id: string;
  name: string;
  description: string;
  /** Stored JSON text. */
  inputSchema: string;
  /** Stored JSON text; null when the server declares none. */
  outputSchema: string | null;
  enabled: boolean;
}

/** Key of a system in API paths. */
export interface SystemKey extends AppVersionKey {
  resourceId: string;
}

/** What to include in a list in addition to the systems of the version. */
export interface ListOptions {
  /** Kinds of dependency whose systems are included. Unknown kinds are ignored. */
  dependencyTypes: string[];
  withManifest: boolean;
}

/** TLS certificates and key of a system in PEM format; null when absent. */
export interface SystemTls {
  caCertificates: string | null;
  /** May be present without its key, which a change of the address deletes. */
  clientCertificate: string | null;
  clientKey: string | null;
}

/** Connection to a server. All members of the credentials are null for NO_AUTH. */
export interface Connection extends SystemTls {
  baseUrl: string;
  authorizationType: AuthorizationType;
  clientId: string | null;
  /** The client secret, private key or API key. */
  clientSecret: string | null;
  identityProviderUrl: string | null;
  /** Options of the credentials as JSON text (connection.ts); null when there are none. */
  credentialOptions: string | null;
  /** Static headers as JSON text; null when there are none or their values were never set. */
  headers: string | null;
  /** Names of the static headers as JSON text; null when there are none. */
  headerNames: string | null;
}

/** Columns of a system that callers and packages can set. */
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
