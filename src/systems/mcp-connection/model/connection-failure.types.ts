/**
 * Causes of failed connection tests, with fixed sentences for display (docs/contract.md, section 2.2). `token_…` occur at the OAuth
 * 2.0 token endpoint, all others at the MCP server.
 */
export const CONNECTION_FAILURES = {
  invalid_client: 'The token endpoint rejected the client id or the client secret.',
  unauthorized: 'The MCP server requires credentials or rejected the ones it got.',
  forbidden: 'The MCP server accepts the credentials but denies access.',

  dns: 'The host name could not be resolved.',
  refused: 'The connection was refused.',
  network: 'The connection broke.',
  tls: 'No secure connection could be established.',
  timeout: 'No complete answer arrived in time.',
  blocked: 'The address is not one this service may call.',
  port: 'The port belongs to another protocol and is never called; let the MCP server listen on another port.',
  insecure: 'The address uses http, and this service calls https only (OUTBOUND_HTTP); use an https address.',
  proxy: 'The outbound proxy of this service cannot be reached.',
  proxy_auth: 'The outbound proxy of this service rejected its credentials.',
  proxy_refused: 'The outbound proxy of this service does not connect to the MCP server.',
  redirect: 'The server redirects to another origin or too often.',
  too_large: 'The answer is larger than allowed.',
  encoding: 'The answer is compressed although compression was not requested.',
  protocol: 'The answer is not valid HTTP.',

  token_dns: 'The host name of the token endpoint could not be resolved.',
  token_refused: 'The token endpoint refused the connection.',
  token_network: 'The connection to the token endpoint broke.',
  token_tls: 'No secure connection to the token endpoint could be established.',
  token_timeout: 'The token endpoint did not answer in time.',
  token_blocked: 'The address of the token endpoint is not one this service may call.',
  token_port:
    'The port of the token endpoint belongs to another protocol and is never called; let it listen on another port.',
  token_insecure:
    'The address of the token endpoint uses http, and this service calls https only (OUTBOUND_HTTP); use an https address.',
  token_proxy: 'The outbound proxy of this service cannot be reached for the token endpoint.',
  token_proxy_auth: 'The outbound proxy of this service rejected its credentials, so there is no token.',
  token_proxy_refused: 'The outbound proxy of this service does not connect to the token endpoint.',
  token_redirect: 'The token endpoint redirects to another origin or too often.',
  token_too_large: 'The answer of the token endpoint is larger than allowed.',
  token_encoding: 'The answer of the token endpoint is compressed although compression was not requested.',
  token_protocol: 'The answer of the token endpoint is not valid HTTP.',
  token_scope:
    'The token endpoint rejected the scope of the request or requires one: set the scope of the system.',
  token_denied:
    'The token endpoint denied the client a token for this scope, audience or resource: check what the client may access.',
  token_grant:
    'The token endpoint does not allow the client to use client credentials, or does not know the client.',
  token_request:
    'The token endpoint rejected the request: it may require a scope or another parameter, such as audience.',
  token_busy: 'The token endpoint limits requests (HTTP 429); try again later.',
  token_error: 'The token endpoint answers with an HTTP error.',
  token_invalid: 'The token endpoint did not answer with an access token.',

  not_mcp: 'The server at this address is not an MCP server.',
  invalid_message: 'The MCP server sends a message that is not valid JSON-RPC 2.0.',
  no_version: 'The MCP server answers the handshake without a protocol version.',
  http_error: 'The MCP server answers with an HTTP error.',
  rate_limited: 'The MCP server limits requests (HTTP 429); try again later.',
  mcp_error: 'The MCP server answers with a protocol error.',
  unsupported_version: 'The MCP server and this service have no protocol version in common.',
  invalid_tool_list: 'The MCP server did not answer with a valid list of tools.',
  too_many_tools: 'The MCP server lists more tools or pages than allowed.',

  overloaded: 'Too many large or slow connection tests are running; try again later.',
  stopping: 'The service is stopping.',
  internal: 'The connection test failed inside the service.',
} as const;

/** One cause of {@link CONNECTION_FAILURES}. */
export type ConnectionFailureCause = keyof typeof CONNECTION_FAILURES;

/** Causes that mean that an answer was larger than allowed. */
export const ANSWERED_TOO_MUCH: ReadonlySet<ConnectionFailureCause> = new Set([
  'too_large',
  'token_too_large',
  'too_many_tools',
]);

/** Causes that mean that the server or token endpoint rejected the credentials. */
export const REJECTED_CREDENTIALS: ReadonlySet<ConnectionFailureCause> = new Set([
  'invalid_client',
  'unauthorized',
  'forbidden',
  'token_scope',
  'token_denied',
  'token_grant',
  'token_request',
]);
