import { ApiExtraModels, IntersectionType, PickType } from '@nestjs/swagger';
import { Answer, Shows, shows } from '../../../platform/openapi/answer-fields.decorators.js';
import { UserReferenceDto } from '../../../platform/user/user-reference.dto.js';
import { IsHttpUrl } from '../../../platform/validation/patterns.decorators.js';
import {
  CONNECTION_FAILURES,
  ANSWERED_TOO_MUCH,
} from '../../mcp-connection/model/connection-failure.types.js';
import {
  REJECTED_TOOL_REASONS,
  TOOL_WARNING_REASONS,
  type ConnectedResult,
  type FailedResult,
} from '../../mcp-connection/model/connection-test.types.js';
import { ToolResponseDto } from '../../registration/system.response.dto.js';
import {
  AuthorizationRequestDto,
  AUTHORIZATION_MODELS,
  IsAuthorization,
} from '../../model/authorization.request.dto.js';
import { IsHeaders } from '../../model/system-field.decorator.js';
import { IsTlsPart, TlsRequestDto } from '../../model/tls.request.dto.js';
import type { ConnectionTest } from './connection-test.service.js';

/** Formats texts as a Markdown list. */
const listOf = (texts: Record<string, string>): string =>
  Object.values(texts)
    .map((text) => `\n- ${text}`)
    .join('');

/** Request of a connection test (docs/contract.md, section 2.2). */
@ApiExtraModels(...AUTHORIZATION_MODELS)
export class ConnectionTestRequestDto {
  @IsHttpUrl({ description: 'Base URL of the MCP server.', example: 'http://127.0.0.1:3001/mcp' })
  baseUrl: string;

  @IsAuthorization()
  authorization: AuthorizationRequestDto;

  @IsTlsPart()
  tls?: TlsRequestDto;

  @IsHeaders('Null or absent for none.')
  headers?: Record<string, string> | null;
}

/** A tool as described by its server. */
export class TestedToolDto extends IntersectionType(
  Answer({ name: Shows.value('Tool name, unique in the list.', 'get-sum') }),
  PickType(ToolResponseDto, ['description', 'inputSchema'] as const),
) {}

export class RejectedToolDto extends Answer({
  name: Shows.value('At most 128 printable characters; empty when the server sent no name.', 'get-prices'),
  reason: Shows.enum(
    'RejectedToolReason',
    REJECTED_TOOL_REASONS,
    'Why the tool was rejected. A name must have 1 to 128 visible characters without leading or trailing blanks; an input schema must be a JSON Schema ' +
      'within the limits of the deployment (`MCP_MAX_SCHEMA_…`) without external references.',
    'external_reference',
  ),
}) {}

/** Warning about a listed tool. */
export class ToolWarningDto extends Answer({
  name: Shows.value('Tool name.', 'get stock'),
  reason: Shows.enum(
    'ToolWarningReason',
    TOOL_WARNING_REASONS,
    '`name_needs_alias`: agents know the tool by an alias. `title_cut`, `description_cut`: the text was too long and is truncated. ' +
      '`hidden_characters_removed`: a text had invisible characters. `output_schema_dropped`: the output schema is invalid. ' +
      '`task_required`: the tool only runs as an MCP task, which this service does not support, so calls fail.',
    'name_needs_alias',
  ),
}) {}

/** A new tool that inherited its flag. */
export class TakenOverToolDto extends Answer({
  name: Shows.value('Tool name.', 'get-env'),
  enabled: Shows.flag('Whether agents may call the tool.', false),
  decidedBy: Shows.partOrNull(() => UserReferenceDto, 'Who decided; null when no person reviewed the tool.'),
  decidedAt: Shows.momentOrNull('When it was decided; null when unknown.', '2026-01-31T10:20:30.123Z'),
}) {}

/** Changes in one registered system. */
export class SynchronizedSystemDto extends Answer({
  resourceId: Shows.uuid('Resource id of the system.'),
  name: Shows.value('Display name of the system.', 'Inventory tools'),
  added: Shows.texts('New tools of this system.'),
  changed: Shows.texts('Tools whose definition changed; the audit log lists the differences.'),
  removed: Shows.texts('Tools that the server no longer lists.'),
  returned: Shows.texts('Tools that the server lists again; they keep their id and flag.'),
  disabledForReview: Shows.texts('Tools that are disabled until an admin enables them.'),
  takenOver: Shows.list(
    () => TakenOverToolDto,
    'Tools of `added` that inherited the decision about the same definition, from another version of the application or from a ' +
      'deleted system of this name.',
  ),
}) {}

/** Self-description of the server. */
export class TestedServerDto extends Answer({
  name: Shows.value('Name reported by the server.', 'inventory-mcp'),
  version: Shows.value('Version reported by the server.', '2.1.0'),
}) {}

const SUCCESS = 'Connection successful';

/** Messages of the contract (docs/contract.md, section 2.2), and one for a case that it does not cover. */
const FAILURES = {
  rejected_credentials: { status: 400, message: 'Connection failed: Invalid authentication credentials' },
  unreachable: { status: 500, message: 'Connection failed: MCP server is unreachable' },
  answered_too_much: { status: 500, message: 'Connection failed: The answer is larger than allowed' },
} as const;

/** Result of a connection test (docs/contract.md, section 2.2). Members other than status, message and tools are extensions. */
export class ConnectionTestResponseDto extends Answer({
  status: shows<number>({ enum: [200, 400, 500] })(
    '200: connected; 400: credentials rejected; 500: any other failure. The HTTP status is 200 in all cases.',
    200,
  ),
  message: shows({ enum: [SUCCESS, ...new Set(Object.values(FAILURES).map(({ message }) => message))] })(
    'Outcome as specified by the interface contract; the last message is an extension.',
    SUCCESS,
  ),
  details: Shows.optionalValue(
    `Why the test failed, one of:${listOf(CONNECTION_FAILURES)}`,
    'The connection was refused.',
  ),
  tools: Shows.optionalList(() => TestedToolDto, 'Only when the test succeeded.'),
  rejectedTools: Shows.optionalList(() => RejectedToolDto, 'Rejected tools, with reasons.'),
  toolWarnings: Shows.optionalList(
    () => ToolWarningDto,
    'What was truncated or removed from listed tools, and which of their features are not supported.',
  ),
  synchronizedSystems: Shows.optionalList(
    () => SynchronizedSystemDto,
    'Systems of this version with the same connection, whose tools were synchronised.',
  ),
  server: Shows.optionalPart(() => TestedServerDto, 'Self-description of the server.'),
  protocolVersion: Shows.optionalValue('Negotiated MCP revision.', '2026-07-28'),
  transport: shows<string | undefined>({ enum: ['streamable-http', 'sse'], required: false })(
    'Detected MCP transport; `sse` is deprecated.',
  ),
  warnings: Shows.optionalTexts(
    'Warnings about a working connection, such as unencrypted credentials or a deprecated transport.',
  ),
  latencyMs: Shows.number('Duration of the test in milliseconds.', 42),
}) {}

const postponedWarning = (systems: number): string =>
  `${systems} more systems with this connection were not synchronised in time; test again.`;

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
    message: SUCCESS,
    tools: result.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    rejectedTools: result.rejectedTools,
    toolWarnings: result.toolWarnings,
    synchronizedSystems: synchronised.map(({ system: { resourceId, name }, report }) => ({
      resourceId,
      name,
      ...report,
    })),
    server: { name: result.server.name, version: result.server.version },
    protocolVersion: result.protocolVersion,
    transport: result.transport,
    warnings: [...result.warnings, ...(postponed === 0 ? [] : [postponedWarning(postponed)])],
    latencyMs: Math.round(result.latencyMs),
  };
}
