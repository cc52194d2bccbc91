import type { TlsMaterial } from '../../../platform/tls/tls-material.js';
import type { ConnectionFailureCause } from './connection-failure.types.js';

/** Warnings about a working connection, as fixed sentences. */
export const CONNECTION_WARNINGS = {
  legacyTransport: 'The MCP server offers only the deprecated HTTP+SSE transport.',
  noTools: 'The MCP server does not offer tools.',
  identityCut:
    'The self-description of the MCP server is truncated to 255 characters of name, title and version and 2,000 of description.',
  rateLimited: 'The MCP server limits requests (HTTP 429); the service waited as requested.',
  endlessList:
    'The tool list of the MCP server does not end: its pages repeat or stay empty. The tools read so far are kept.',
  resourceIgnored:
    'The token endpoint rejected the resource parameter (RFC 8707); the token is not bound to this MCP server.',
  noExpiry: 'The token endpoint does not return the lifetime of the token; five minutes are assumed.',
  insecureTransport: 'Credentials travel unencrypted: the MCP server or the token endpoint uses http.',
} as const;

/** One of the texts of {@link CONNECTION_WARNINGS}. */
export type ConnectionWarning = (typeof CONNECTION_WARNINGS)[keyof typeof CONNECTION_WARNINGS];

/** Client authentication at a token endpoint: a secret, or a private key (private_key_jwt, RFC 7523; PKCS#8 in PEM). */
export type ClientAuthentication =
  { clientSecret: string } | { privateKey: string; algorithm: string; keyId: string | null };

/** A client of an OAuth 2.0 token endpoint (RFC 6749, section 4.4). */
export type TokenClient = {
  clientId: string;
  tokenUrl: string;
  /** Scope of the token request. @default none */
  scope?: string;
  /** Additional fields of the token request. They cannot override fields that this client sets. @default none */
  tokenParameters?: Readonly<Record<string, string>>;
} & ClientAuthentication;

/** A system that authenticates with access tokens. */
export type ServiceAccount = { type: 'SERVICE_ACCOUNT' } & TokenClient;

/** A key in a header of each request, after a scheme if there is one. Empty when it was never set. */
export interface ApiKey {
  type: 'API_KEY';
  headerName: string;
  scheme: string | null;
  apiKey: string;
}

/** How the service authenticates to the server of a system. */
export type SystemCredentials = ({ type: 'NO_AUTH' } | ServiceAccount | ApiKey) & {
  /** Static headers of every request to the server, never to the token endpoint. A value that was never set is empty. @default none */
  headers?: Readonly<Record<string, string>>;
};

/** Input of a connection test. */
export interface ConnectionTestRequest {
  baseUrl: string;
  credentials: SystemCredentials;
  /** Certificates of the system. */
  tls?: TlsMaterial;
  /** Number of tools in the last successful test. If not 0, an empty list is read a second time. */
  knownToolCount: number;
  /** Connects and disconnects without reading tools, so `tools` of the result is empty. @default false */
  greetOnly?: boolean;
  /** W3C trace context to send; dropped when malformed. */
  traceparent?: string;
}

/** Validated tool definition of a server, without hidden characters. */
export interface DiscoveredTool {
  name: string;
  title: string | null;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema: Record<string, unknown> | null;
  annotations: Record<string, unknown> | null;
}

/** Reasons to reject a tool of the list. */
export const REJECTED_TOOL_REASONS = [
  'not_an_object',
  'invalid_name',
  'duplicate_name',
  'invalid_text',
  'hidden_characters',
  'invalid_input_schema',
  'invalid_annotations',
  'schema_too_large',
  'schema_too_deep',
  'schema_too_complex',
  'forbidden_key',
  'external_reference',
  'unresolved_reference',
  'invalid_header_declaration',
] as const;

/** One entry of {@link REJECTED_TOOL_REASONS}. */
export type RejectedToolReason = (typeof REJECTED_TOOL_REASONS)[number];

/** A rejected tool. `name` has at most 128 printable characters and is empty when there was none. */
export interface RejectedTool {
  name: string;
  reason: RejectedToolReason;
}

/** Warnings about listed tools: what was changed, or which feature is not supported. */
export const TOOL_WARNING_REASONS = [
  'name_needs_alias',
  'title_cut',
  'description_cut',
  'hidden_characters_removed',
  'output_schema_dropped',
  'task_required',
] as const;

/** A warning about a listed tool. */
export interface ToolWarning {
  name: string;
  reason: (typeof TOOL_WARNING_REASONS)[number];
}

/** Self-description of the server. For people to read only, because it is unverified. */
export interface ServerIdentity {
  name: string;
  version: string;
  title: string | null;
  description: string;
}

/** A successful test. `latencyMs` is the time from the first request to the complete list. */
export interface ConnectedResult {
  outcome: 'connected';
  tools: DiscoveredTool[];
  rejectedTools: RejectedTool[];
  toolWarnings: ToolWarning[];
  server: ServerIdentity;
  /** Names of the capabilities that the server declares. */
  capabilities: string[];
  protocolVersion: string;
  transport: 'streamable-http' | 'sse';
  latencyMs: number;
  warnings: ConnectionWarning[];
}

/** A failed test. */
export interface FailedResult {
  outcome: 'rejected_credentials' | 'unreachable';
  cause: ConnectionFailureCause;
  latencyMs: number;
}

/** Outcome of a connection test, as data and never as an exception (docs/contract.md, section 2.2). */
export type ConnectionTestResult = ConnectedResult | FailedResult;
