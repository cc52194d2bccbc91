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
