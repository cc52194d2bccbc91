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
