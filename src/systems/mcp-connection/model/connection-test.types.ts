import type { TlsMaterial } from '../../../platform/tls/tls-material.js';
import type { ConnectionFailureCause } from './connection-failure.types.js';

/** Remarks about a connection that works; fixed texts. */
export const CONNECTION_WARNINGS = {
  legacyTransport: 'The MCP server offers only the deprecated HTTP+SSE transport.',
  noTools: 'The MCP server does not offer tools.',
  identityCut:
    'The MCP server describes itself at length: 255 characters of its name, title and version and 2,000 of its description are kept.',
  rateLimited:
    'The MCP server limits how often it is called (HTTP 429); the service waited as long as it asked.',
  endlessList:
    'The list of tools of the MCP server has no end: its pages repeat or stay empty. The tools read until then are kept.',
  resourceIgnored:
    'The token endpoint refused the resource parameter (RFC 8707); the token is not bound to this MCP server.',
  noExpiry: 'The token endpoint does not say how long a token lives; five minutes are assumed.',
  insecureTransport: 'Credentials travel unencrypted: the MCP server or the token endpoint uses http.',
} as const;

/** One of the texts of {@link CONNECTION_WARNINGS}. */
export type ConnectionWarning = (typeof CONNECTION_WARNINGS)[keyof typeof CONNECTION_WARNINGS];

/** How a client shows a token endpoint who it is: with a secret, or by signing (private_key_jwt, RFC 7523; PKCS#8 in PEM). */
export type ClientAuthentication =
  { clientSecret: string } | { privateKey: string; algorithm: string; keyId: string | null };

/** A client of an OAuth 2.0 token endpoint (RFC 6749, section 4.4). */
export type TokenClient = {
  clientId: string;
  tokenUrl: string;
  /** Scope of the token request. @default none */
  scope?: string;
  /** Further fields of the token request; those that this client sets itself win. @default none */
  tokenParameters?: Readonly<Record<string, string>>;
} & ClientAuthentication;

/** A system that authenticates with access tokens. */
export type ServiceAccount = { type: 'SERVICE_ACCOUNT' } & TokenClient;

/** A key in a header of each request, behind a scheme where there is one. Empty where it was never set. */
export interface ApiKey {
  type: 'API_KEY';
  headerName: string;
  scheme: string | null;
  apiKey: string;
}

/** How a system authenticates at its server. */
export type SystemCredentials = ({ type: 'NO_AUTH' } | ServiceAccount | ApiKey) & {
  /** Static headers of every request to the server, never to the token endpoint. A value that was never set is empty. @default none */
  headers?: Readonly<Record<string, string>>;
};

/** What a connection test needs to know. */
export interface ConnectionTestRequest {
  baseUrl: string;
  credentials: SystemCredentials;
  /** What the system adds to TLS. */
  tls?: TlsMaterial;
  /** Tools listed by the last successful test; when there were some, an empty list is read twice before it is believed. */
  knownToolCount: number;
  /** Connect and take leave, without reading the tools: `tools` of the result is empty then. @default false */
  greetOnly?: boolean;
  /** W3C trace context of the request that caused the test; sent along, dropped when malformed. */
  traceparent?: string;
}

/** A tool as the server defines it, checked, within limits, and without hidden characters. */
export interface DiscoveredTool {
  name: string;
  title: string | null;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema: Record<string, unknown> | null;
  annotations: Record<string, unknown> | null;
}

/** Why a tool of the list was left out. */
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

/** A tool that was left out; `name` is at most 128 printable characters, empty when there was none. */
export interface RejectedTool {
  name: string;
  reason: RejectedToolReason;
}

/** What of a listed tool was changed, or what it needs that this service lacks. */
export const TOOL_WARNING_REASONS = [
  'name_needs_alias',
  'title_cut',
  'description_cut',
  'hidden_characters_removed',
  'output_schema_dropped',
  'task_required',
] as const;

/** A remark about a tool that is listed. */
export interface ToolWarning {
  name: string;
  reason: (typeof TOOL_WARNING_REASONS)[number];
}

/** What the server says of itself. Self-reported: for people to read, never to decide on. */
export interface ServerIdentity {
  name: string;
  version: string;
  title: string | null;
  description: string;
}

/** A successful test. `latencyMs` runs from the first call until the list was complete. */
export interface ConnectedResult {
  outcome: 'connected';
  tools: DiscoveredTool[];
  rejectedTools: RejectedTool[];
  toolWarnings: ToolWarning[];
  server: ServerIdentity;
  /** Names of the capabilities that the server declares, as it wrote them. */
  capabilities: string[];
  protocolVersion: string;
  transport: 'streamable-http' | 'sse';
  latencyMs: number;
  warnings: ConnectionWarning[];
}

/** A failed test; `cause` is a key of CONNECTION_FAILURES. */
export interface FailedResult {
  outcome: 'rejected_credentials' | 'unreachable';
  cause: ConnectionFailureCause;
  latencyMs: number;
}

/** Outcome of a connection test: data, never an exception (docs/contract.md, section 2.2). */
export type ConnectionTestResult = ConnectedResult | FailedResult;
