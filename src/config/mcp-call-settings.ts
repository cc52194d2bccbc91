import { flag, integer, MOST_PARSED_BYTES } from './setting-rules.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** Settings of tool calls. What servers may cost is bounded for each call, each system and all of them. */
export const mcpCallSettings = {
  MCP_CALL_CONNECT_TIMEOUT_MS: integer(100, 5 * MINUTE_MS, 15_000).describe(
    'Deadline of connecting to an MCP server and reading its tools before the first call.',
  ),
  MCP_CALL_MAX_TIMEOUT_MS: integer(100, 60 * MINUTE_MS, 10 * MINUTE_MS).describe(
    'Longest time of one tool call, with all that its progress adds.',
  ),
  MCP_CALL_CHECK_TIMEOUT_MS: integer(100, 5 * MINUTE_MS, 5_000).describe(
    'Milliseconds for holding what a model gives as arguments against the schema of a tool.',
  ),
  MCP_CALL_MAX_RESULT_BYTES: integer(1_024, MOST_PARSED_BYTES, 1_048_576).describe(
    'Largest decoded answer to one tool call, everything that comes before the result included.',
  ),
  MCP_CALL_IDLE_MS: integer(100, 60 * MINUTE_MS, MINUTE_MS).describe(
    'Milliseconds after which a session with an MCP server that nobody uses is closed.',
  ),
  MCP_CALL_LIST_MAX_AGE_MS: integer(0, 60 * MINUTE_MS, MINUTE_MS).describe(
    "Age at which a session's list of tools is read again before the next call, to notice changed definitions.",
  ),
  MCP_CALL_MAX_SESSIONS: integer(1, 10_000, 200).describe('Sessions with MCP servers kept open at the most.'),
  MCP_CALL_MAX_IN_FLIGHT: integer(1, 10_000, 500).describe(
    'Tool calls under way at the most, all systems together.',
  ),
  MCP_CALL_MAX_IN_FLIGHT_PER_SYSTEM: integer(1, 1_000, 16).describe(
    'Tool calls to one system under way at the most, in this replica, or with REDIS_URL in all of them; others wait for their turn within their deadline.',
  ),
  MCP_CALL_BREAKER_FAILURES: integer(1, 1_000, 5).describe(
    'Failures in a row after which the calls of a system are refused for a while.',
  ),
  MCP_CALL_BREAKER_OPEN_MS: integer(100, 60 * MINUTE_MS, 30_000).describe(
    'Milliseconds for which they are refused before one call is tried again.',
  ),
  TOOL_CALLS: flag(false).describe(
    'Whether people with the permission tool-call may call enabled tools by hand, with the credentials of their systems.',
  ),
  MCP_CALL_WORKER_MEMORY_MB: integer(32, 4_096, 128).describe('Heap of the worker thread that calls tools.'),
};
