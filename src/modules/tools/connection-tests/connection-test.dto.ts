import { ApiExtraModels, ApiProperty, ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { Shows } from '../../../common/answer-fields.decorators.js';
import { UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import { IsHttpUrl } from '../../../common/validation/patterns.decorators.js';
import {
  CONNECTION_FAILURES,
  ANSWERED_TOO_MUCH,
} from '../../mcp-connection/model/connection-failure.types.js';
import {
  REJECTED_TOOL_REASONS,
  type RejectedToolReason,
  TOOL_WARNING_REASONS,
  type ToolWarning,
  type ConnectedResult,
  type FailedResult,
} from '../../mcp-connection/model/connection-test.types.js';
import { ToolResponseDto } from '../../systems/registration/system.response.dto.js';
import { AuthorizationRequestDto } from '../../systems/model/authorization.request.dto.js';
import { AUTHORIZATION_MODELS, IsAuthorization } from '../../systems/model/authorization-kinds.dto.js';
import { IsHeaders } from '../../systems/model/system-field.decorator.js';
import { IsTlsPart, TlsRequestDto } from '../../systems/model/tls.request.dto.js';
import type { ConnectionTest, SynchronisedSystem } from './connection-test.service.js';
import type { TakenOverTool } from '../model/tool.types.js';

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
export class TestedToolDto extends PickType(ToolResponseDto, [
  'name',
  'description',
  'inputSchema',
] as const) {
  @Shows.value('Tool name, unique in the list.', 'get-sum')
  override name: string;
}

/** A tool that was left out of the list. */
export class RejectedToolDto {
  @Shows.value('At most 128 printable characters; empty when the server gave no name.', 'get-prices')
  name: string;

  @Shows.enum(
    'RejectedToolReason',
    REJECTED_TOOL_REASONS,
    'Why it was left out. A name has 1 to 128 visible characters and no blank at its ends; an input schema is a JSON Schema within the limits ' +
      'of the deployment (`MCP_MAX_SCHEMA_…`) that refers to nothing outside of itself.',
    'external_reference',
  )
  reason: RejectedToolReason;
}

/** A remark about a tool that is listed. */
export class ToolWarningDto {
  @Shows.value('Tool name.', 'get stock')
  name: string;

  @Shows.enum(
    'ToolWarningReason',
    TOOL_WARNING_REASONS,
    '`name_needs_alias`: agents know the tool by an alias. `title_cut`, `description_cut`: the text is longer than what is kept. ' +
      '`hidden_characters_removed`: a text had characters that people cannot see. `output_schema_dropped`: the output schema breaks a ' +
      'rule. `task_required`: the tool only runs as an MCP task, which this service does not offer, so calls fail.',
    'name_needs_alias',
  )
  reason: ToolWarning['reason'];
}

/** A tool that came with its flag. */
export class TakenOverToolDto {
  @Shows.value('Tool name.', 'get-env')
  name: string;

  @Shows.value('Whether agents may call the tool.', false)
  enabled: boolean;

  @Shows.partOrNull(() => UserReferenceDto, 'Who decided it; null where no person has looked at the tool.')
  decidedBy: UserReferenceDto | null;

  @Shows.momentOrNull('When it was decided; null where that is not known.', '2026-01-31T10:20:30.123Z')
  decidedAt: string | null;
}

/** What changed in one registered system. */
export class SynchronizedSystemDto {
  @Shows.uuid('Resource id of the system.')
  resourceId: string;

  @Shows.value('Display name of the system.', 'Inventory tools')
  name: string;

  @Shows.texts('Tools that are new in this system.')
  added: string[];

  @Shows.texts('Tools whose definition changed; the audit log names every difference.')
  changed: string[];

  @Shows.texts('Tools that the server no longer lists.')
  removed: string[];

  @Shows.texts('Tools that are back, with their old id and flag.')
  returned: string[];

  @Shows.texts('Tools that are disabled now until an admin enables them.')
  disabledForReview: string[];

  @Shows.list(
    () => TakenOverToolDto,
    'Tools of `added` whose flag was decided before about this very definition: in another version of the application, or for a ' +
      'system of this name that is gone.',
  )
  takenOver: TakenOverToolDto[];
}

/** What the server says of itself. */
export class TestedServerDto {
  @Shows.value('Name that the server gives itself.', 'inventory-mcp')
  name: string;

  @Shows.value('Version that the server gives itself.', '2.1.0')
  version: string;
}

/** The connection test (docs/contract.md, section 2.2). Members beyond status, message and tools are extensions. */
export class ConnectionTestResponseDto {
  @ApiProperty({
    enum: [200, 400, 500],
    description:
      '200 connected, 400 credentials rejected, 500 anything else. The HTTP status is 200 for all three.',
    example: 200,
  })
  status: number;

  @ApiProperty({
    enum: [
      'Connection successful',
      'Connection failed: Invalid authentication credentials',
      'Connection failed: MCP server is unreachable',
      'Connection failed: The answer is larger than allowed',
    ],
    description: 'The outcome in the words of the interface contract; the last one is an extension.',
    example: 'Connection successful',
  })
  message: string;

  @ApiPropertyOptional({
    description: `Why the test failed, one of:${listOf(CONNECTION_FAILURES)}`,
    example: 'The connection was refused.',
  })
  details?: string;

  @ApiPropertyOptional({ type: () => [TestedToolDto], description: 'Only when the test succeeded.' })
  tools?: TestedToolDto[];

  @ApiPropertyOptional({ type: () => [RejectedToolDto], description: 'Tools that were left out, and why.' })
  rejectedTools?: RejectedToolDto[];

  @ApiPropertyOptional({
    type: () => [ToolWarningDto],
    description: 'What was cut or dropped of listed tools, and what they need that this service lacks.',
  })
  toolWarnings?: ToolWarningDto[];

  @ApiPropertyOptional({
    type: () => [SynchronizedSystemDto],
    description: 'Systems of this version with the same connection; their tools were synchronised.',
  })
  synchronizedSystems?: SynchronizedSystemDto[];

  @ApiPropertyOptional({ type: () => TestedServerDto, description: 'What the server says of itself.' })
  server?: TestedServerDto;

  @ApiPropertyOptional({ description: 'MCP revision that was negotiated.', example: '2026-07-28' })
  protocolVersion?: string;

  @ApiPropertyOptional({
    enum: ['streamable-http', 'sse'],
    description: 'MCP transport that was found; `sse` is deprecated.',
  })
  transport?: string;

  @ApiPropertyOptional({
    type: [String],
    description:
      'Remarks about a connection that works, such as credentials that travel unencrypted or a deprecated transport.',
  })
  warnings?: string[];

  @Shows.number('Milliseconds the test took.', 42)
  latencyMs: number;
}

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
    ...report,
    takenOver: report.takenOver.map(toTakenOver),
  };
}

function toTakenOver({ name, enabled, decidedBy, decidedAt }: TakenOverTool): TakenOverToolDto {
  return { name, enabled, decidedBy, decidedAt: decidedAt?.toISOString() ?? null };
}
