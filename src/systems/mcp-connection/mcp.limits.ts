/** Size and time limits for MCP servers and token endpoints. */
export const mcpLimits = {
  /** Deadline of a whole connection test. */
  testTimeoutMs: 15_000,
  /** Time to store the tools of all systems that one test covers. The rest is postponed to the next test. */
  syncTimeoutMs: 15_000,
  /** Maximum decoded bytes of one response of an MCP server. */
  maxResponseBytes: 2_097_152,
  /** Maximum decoded bytes of a whole connection test. */
  maxTotalBytes: 8_388_608,
  /** Maximum pages of tools/list. */
  maxPages: 64,
  /** Maximum tools of one system. */
  maxTools: 2_000,
  /** Maximum bytes of one tool schema as JSON. */
  maxSchemaBytes: 60_000,
  /** Maximum nesting of one tool schema. */
  maxSchemaDepth: 20,
  /** Maximum objects and arrays in one tool schema. */
  maxSchemaNodes: 2_000,
  /** Heap of the worker thread that talks to MCP servers. */
  workerMemoryMb: 128,
  /** Maximum bytes of a response of an OAuth token endpoint. */
  tokenEndpointMaxBytes: 65_536,
  /** Decisions of the rules that are kept for each tool in addition to those in use. Decisions of persons are kept for ever. */
  toolDecisionsKept: 20,
};

/** Limits of tool calls and their sessions. */
export const mcpCallLimits = {
  /** Deadline of connecting to an MCP server and reading its tools before the first call. */
  connectTimeoutMs: 15_000,
  /** Timeout of one tool call in milliseconds if its system has none. */
  defaultTimeoutMs: 30_000,
  /** Maximum duration of one tool call, including extensions by progress. */
  maxTimeoutMs: 600_000,
  /** Milliseconds to validate arguments from a model against the schema of a tool. */
  checkTimeoutMs: 5_000,
  /** Maximum decoded bytes of the response to one tool call, including all messages before the result. */
  maxResultBytes: 1_048_576,
  /** Maximum bytes of a tool result that agents and people see; a larger one is replaced with an error. */
  maxShownBytes: 65_536,
  /** Milliseconds after which an idle session with an MCP server is closed. */
  idleMs: 60_000,
  /** Age at which the tool list of a session is refreshed before the next call, to detect changed definitions. */
  listMaxAgeMs: 60_000,
  /** Maximum open sessions with MCP servers. */
  maxSessions: 200,
  /** Maximum concurrent tool calls of all systems. */
  maxInFlight: 500,
  /** Maximum concurrent tool calls to one system, in this replica or, with REDIS_URL, in all replicas. Further calls wait within their deadline. */
  maxInFlightPerSystem: 16,
  /** Consecutive failures after which calls to a system are rejected for a while. */
  breakerFailures: 5,
  /** Milliseconds for which they are rejected before one trial call is admitted. */
  breakerOpenMs: 30_000,
  /** Heap of the worker thread that calls tools. */
  workerMemoryMb: 128,
};
