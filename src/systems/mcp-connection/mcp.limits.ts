/** Bounds of what MCP servers and token endpoints may send, and of the time they may take. */
export const mcpLimits = {
  /** Deadline of a whole connection test. */
  testTimeoutMs: 15_000,
  /** Time for storing the tools of all systems that one test covers; what is left waits for the next test. */
  syncTimeoutMs: 15_000,
  /** Largest decoded answer of an MCP server. */
  maxResponseBytes: 2_097_152,
  /** Decoded bytes of one whole connection test. */
  maxTotalBytes: 8_388_608,
  /** Pages of tools/list at the most. */
  maxPages: 64,
  /** Tools of one system at the most. */
  maxTools: 2_000,
  /** Size of one tool schema as JSON. */
  maxSchemaBytes: 60_000,
  /** Nesting of one tool schema. */
  maxSchemaDepth: 20,
  /** Objects and arrays in one tool schema. */
  maxSchemaNodes: 2_000,
  /** Heap of the worker thread that talks to MCP servers. */
  workerMemoryMb: 128,
  /** Largest answer of an OAuth token endpoint. */
  tokenEndpointMaxBytes: 65_536,
  /** Definitions of each tool that are remembered with what the rules of synchronisation decided, besides those that a version has; what persons decided is kept for ever. */
  toolDecisionsKept: 20,
};

/** Bounds of calls of tools and of the sessions that are kept for them. */
export const mcpCallLimits = {
  /** Deadline of connecting to an MCP server and reading its tools before the first call. */
  connectTimeoutMs: 15_000,
  /** Longest time of one tool call, with all that its progress adds. */
  maxTimeoutMs: 600_000,
  /** Milliseconds for holding what a model gives as arguments against the schema of a tool. */
  checkTimeoutMs: 5_000,
  /** Largest decoded answer to one tool call, everything that comes before the result included. */
  maxResultBytes: 1_048_576,
  /** Milliseconds after which a session with an MCP server that nobody uses is closed. */
  idleMs: 60_000,
  /** Age at which a session's list of tools is read again before the next call, to notice changed definitions. */
  listMaxAgeMs: 60_000,
  /** Sessions with MCP servers kept open at the most. */
  maxSessions: 200,
  /** Tool calls under way at the most, all systems together. */
  maxInFlight: 500,
  /** Tool calls to one system under way at the most, in this replica, or with REDIS_URL in all of them; others wait for their turn within their deadline. */
  maxInFlightPerSystem: 16,
  /** Failures in a row after which the calls of a system are refused for a while. */
  breakerFailures: 5,
  /** Milliseconds for which they are refused before one call is tried again. */
  breakerOpenMs: 30_000,
  /** Heap of the worker thread that calls tools. */
  workerMemoryMb: 128,
};
