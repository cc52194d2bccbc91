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

/** Fixed texts as a list in Markdown. */
const listOf = (texts: Record<string, string>): string =>
  Object.values(texts)
    .map((text) => `\n- ${text}`)
    .join('');

/** The connection test (docs/contract.md, section 2.2). */
@ApiExtraModels(...AUTHORIZATION_MODELS)
export class ConnectionTestRequestDto {
  @IsHttpUrl({ description: 'Base URL of the MCP server.', example: 'http://127.0.0.1:3001/mcp' })
  baseUrl: string;

  @IsAuthorization()
  authorization: AuthorizationRequestDto;

  @IsTlsPart()
  tls?: TlsRequestDto;

  @IsHeaders('null or absent for none.')
  headers?: Record<string, string> | null;
}

/** A tool as the server describes it. */
export class TestedToolDto extends IntersectionType(
  Answer({ name: Shows.value('Tool name, unique in the list.', 'get-sum') }),
  PickType(ToolResponseDto, ['description', 'inputSchema'] as const),
) {}

export class RejectedToolDto extends Answer({
  name: Shows.value('At most 128 printable characters; empty when the server gave no name.', 'get-prices'),
  reason: Shows.enum(
    'RejectedToolReason',
    REJECTED_TOOL_REASONS,
    'Why it was left out. A name has 1 to 128 visible characters and no blank at its ends; an input schema is a JSON Schema within the limits ' +
      'of the deployment (`MCP_MAX_SCHEMA_…`) that refers to nothing outside of itself.',
    'external_reference',
  ),
}) {}

/** A remark about a tool that is listed. */
export class ToolWarningDto extends Answer({
  name: Shows.value('Tool name.', 'get stock'),
  reason: Shows.enum(
    'ToolWarningReason',
    TOOL_WARNING_REASONS,
    '`name_needs_alias`: agents know the tool by an alias. `title_cut`, `description_cut`: the text is longer than what is kept. ' +
      '`hidden_characters_removed`: a text had characters that people cannot see. `output_schema_dropped`: the output schema breaks a ' +
      'rule. `task_required`: the tool only runs as an MCP task, which this service does not offer, so calls fail.',
    'name_needs_alias',
  ),
}) {}

/** A tool that came with its flag. */
export class TakenOverToolDto extends Answer({
  name: Shows.value('Tool name.', 'get-env'),
  enabled: Shows.flag('Whether agents may call the tool.', false),
  decidedBy: Shows.partOrNull(
    () => UserReferenceDto,
    'Who decided it; null where no person has looked at the tool.',
  ),
  decidedAt: Shows.momentOrNull(
    'When it was decided; null where that is not known.',
    '2026-01-31T10:20:30.123Z',
  ),
}) {}

/** What changed in one registered system. */
export class SynchronizedSystemDto extends Answer({
  resourceId: Shows.uuid('Resource id of the system.'),
  name: Shows.value('Display name of the system.', 'Inventory tools'),
  added: Shows.texts('Tools that are new in this system.'),
  changed: Shows.texts('Tools whose definition changed; the audit log names every difference.'),
  removed: Shows.texts('Tools that the server no longer lists.'),
  returned: Shows.texts('Tools that are back, with their old id and flag.'),
  disabledForReview: Shows.texts('Tools that are disabled now until an admin enables them.'),
  takenOver: Shows.list(
    () => TakenOverToolDto,
    'Tools of `added` whose flag was decided before about this very definition: in another version of the application, or for a ' +
      'system of this name that is gone.',
  ),
}) {}

/** What the server says of itself. */
export class TestedServerDto extends Answer({
  name: Shows.value('Name that the server gives itself.', 'inventory-mcp'),
  version: Shows.value('Version that the server gives itself.', '2.1.0'),
}) {}

const SUCCESS = 'Connection successful';

/** The words of the contract (docs/contract.md, section 2.2), and of what it has no words for. */
const FAILURES = {
  rejected_credentials: { status: 400, message: 'Connection failed: Invalid authentication credentials' },
  unreachable: { status: 500, message: 'Connection failed: MCP server is unreachable' },
  answered_too_much: { status: 500, message: 'Connection failed: The answer is larger than allowed' },
} as const;

/** The connection test (docs/contract.md, section 2.2). Members beyond status, message and tools are extensions. */
export class ConnectionTestResponseDto extends Answer({
  status: shows<number>({ enum: [200, 400, 500] })(
    '200 connected, 400 credentials rejected, 500 anything else. The HTTP status is 200 for all three.',
    200,
  ),
  message: shows({ enum: [SUCCESS, ...new Set(Object.values(FAILURES).map(({ message }) => message))] })(
    'The outcome in the words of the interface contract; the last one is an extension.',
    SUCCESS,
  ),
  details: Shows.valueIfAsked(
    `Why the test failed, one of:${listOf(CONNECTION_FAILURES)}`,
    'The connection was refused.',
  ),
  tools: Shows.listIfAsked(() => TestedToolDto, 'Only when the test succeeded.'),
  rejectedTools: Shows.listIfAsked(() => RejectedToolDto, 'Tools that were left out, and why.'),
  toolWarnings: Shows.listIfAsked(
    () => ToolWarningDto,
    'What was cut or dropped of listed tools, and what they need that this service lacks.',
  ),
  synchronizedSystems: Shows.listIfAsked(
    () => SynchronizedSystemDto,
    'Systems of this version with the same connection; their tools were synchronised.',
  ),
  server: Shows.partIfAsked(() => TestedServerDto, 'What the server says of itself.'),
  protocolVersion: Shows.valueIfAsked('MCP revision that was negotiated.', '2026-07-28'),
  transport: shows<string | undefined>({ enum: ['streamable-http', 'sse'], required: false })(
    'MCP transport that was found; `sse` is deprecated.',
  ),
  warnings: Shows.textsIfAsked(
    'Remarks about a connection that works, such as credentials that travel unencrypted or a deprecated transport.',
  ),
  latencyMs: Shows.number('Milliseconds the test took.', 42),
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
