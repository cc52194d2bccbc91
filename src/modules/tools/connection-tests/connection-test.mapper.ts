import {
  ANSWERED_TOO_MUCH,
  CONNECTION_FAILURES,
} from '../../mcp-connection/model/connection-failure.types.js';
import type { ConnectedResult, FailedResult } from '../../mcp-connection/model/connection-test.types.js';
import type { ConnectionTest, SynchronisedSystem } from './tested-systems.types.js';
import type { TakenOverTool } from '../model/tool.types.js';
import type {
  ConnectionTestResponseDto,
  SynchronizedSystemDto,
  TakenOverToolDto,
} from './connection-test.dto.js';

const postponedWarning = (systems: number): string =>
  `${systems} more systems with this connection were not synchronised in time; test again.`;

/** The words of the contract (docs/contract.md, section 2.2), and of what it has no words for. */
const FAILURES = {
  rejected_credentials: { status: 400, message: 'Connection failed: Invalid authentication credentials' },
  unreachable: { status: 500, message: 'Connection failed: MCP server is unreachable' },
  answered_too_much: { status: 500, message: 'Connection failed: The answer is larger than allowed' },
} as const;

export function toConnectionTestResponse({ result, ...test }: ConnectionTest): ConnectionTestResponseDto {
  return result.outcome === 'connected' ? toSuccess(result, test) : toFailure(result);
}

function toFailure({ outcome, cause, latencyMs }: FailedResult): ConnectionTestResponseDto {
  const failure = ANSWERED_TOO_MUCH.has(cause) ? 'answered_too_much' : outcome;
  return { ...FAILURES[failure], details: CONNECTION_FAILURES[cause], latencyMs: Math.round(latencyMs) };
}

function toSuccess(
  result: ConnectedResult,
  { synchronised, postponed }: Omit<ConnectionTest, 'result'>,
): ConnectionTestResponseDto {
  return {
    status: 200,
    message: 'Connection successful',
    tools: result.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    rejectedTools: result.rejectedTools,
    toolWarnings: result.toolWarnings,
    synchronizedSystems: synchronised.map(toSynchronizedSystem),
    server: { name: result.server.name, version: result.server.version },
    protocolVersion: result.protocolVersion,
    transport: result.transport,
    warnings: [...result.warnings, ...(postponed === 0 ? [] : [postponedWarning(postponed)])],
    latencyMs: Math.round(result.latencyMs),
  };
}

function toSynchronizedSystem({ system, report }: SynchronisedSystem): SynchronizedSystemDto {
  return {
    resourceId: system.resourceId,
    name: system.name,
    added: report.added,
    changed: report.changed,
    removed: report.removed,
    returned: report.returned,
    disabledForReview: report.disabledForReview,
    takenOver: report.takenOver.map(toTakenOver),
  };
}

function toTakenOver({ name, enabled, decidedBy, decidedAt }: TakenOverTool): TakenOverToolDto {
  return { name, enabled, decidedBy, decidedAt: decidedAt?.toISOString() ?? null };
}
