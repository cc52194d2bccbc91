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
