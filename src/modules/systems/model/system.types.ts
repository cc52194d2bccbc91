import type { UserReference } from '../../../common/user/user-reference.js';
import type { AppVersionKey, AppVersionStatus } from '../../apps/apps.types.js';

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

/** What is read of a system to list it. */
export interface SystemSummaryRow {
  id: string;
  resourceId: string;
  resourceDefinitionId: string;
  type: SystemType;
  resourceName: string;
  name: string;
  description: string;
  appId: string;
  appVersionId: string;
  modifiedAt: Date;
}

/** What is read of an MCP system to look whether its server is there. */
export interface McpServerRow {
  id: string;
  /** The same in all versions of the application. */
  resourceDefinitionId: string;
  appId: string;
  resourceName: string;
  baseUrl: string;
  authorizationType: AuthorizationType;
  identityProviderUrl: string | null;
}

/** What is read of a system by those who are about to use it. */
export interface SystemState {
  id: string;
  appId: string;
  resourceDefinitionId: string;
  resourceName: string;
  name: string;
  type: SystemType;
  baseUrl: string | null;
  /** When its tools were last read; null means never. */
  toolsSynchronisedAt: Date | null;
}

/** Systems of some versions; `versions` only when the manifest was asked for. */
export interface SystemList {
  rows: SystemSummaryRow[];
  versions?: AppVersionStatus[];
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

/** What is read of an MCP system to show it. */
export interface SystemDetails {
  id: string;
  resourceId: string;
  resourceDefinitionId: string;
  type: SystemType;
  name: string;
  baseUrl: string | null;
  authorizationType: AuthorizationType | null;
  clientId: string | null;
  identityProviderUrl: string | null;
  caCertificates: string | null;
  clientCertificate: string | null;
  hasClientKey: boolean;
  credentialOptions: string | null;
  headerNames: string | null;
  timeoutMs: number | null;
  description: string;
  createdAt: Date;
  modifiedAt: Date;
  createdBy: UserReference;
  modifiedBy: UserReference;
  tools: ToolRow[];
}

/** An MCP system as it is shown, with the entity tag of this state. */
export interface TaggedSystem {
  system: SystemDetails;
  tag: string;
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
