import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsDefined, IsObject, ValidateNested } from 'class-validator';
import { UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import { IsHttpUrl } from '../../../common/validation/patterns.decorators.js';
import { CONNECTION_FAILURES } from '../../mcp-connection/model/connection-failure.types.js';
import {
  REJECTED_TOOL_REASONS,
  type RejectedToolReason,
} from '../../mcp-connection/model/connection-test.types.js';
import { AuthorizationRequestDto } from '../../systems/model/authorization.request.dto.js';

/** Fixed texts as a list in Markdown. */
const listOf = (texts: Record<string, string>): string =>
  Object.values(texts)
    .map((text) => `\n- ${text}`)
    .join('');

/** The connection test (docs/contract.md, section 2.2). */
export class ConnectionTestRequestDto {
  @IsHttpUrl({ description: 'Base URL of the MCP server.', example: 'http://127.0.0.1:3001/mcp' })
  baseUrl: string;

  @ApiProperty({ type: () => AuthorizationRequestDto, description: 'How the MCP server is reached.' })
  @ValidateNested()
  @IsObject({ message: 'must be an object' })
  @IsDefined({ message: 'is required' })
  @Type(() => AuthorizationRequestDto)
  authorization: AuthorizationRequestDto;
}

/** A tool as the server describes it. */
export class TestedToolDto {
  @ApiProperty({ description: 'Tool name, unique in the list.', example: 'get-sum' })
  name: string;

  @ApiProperty({
    description: 'What the server says it does; plain text, not to be trusted.',
    example: 'Returns the sum of two numbers',
  })
  description: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'JSON Schema of the input.',
    example: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  })
  inputSchema: Record<string, unknown>;
}

/** A tool that was left out of the list. */
export class RejectedToolDto {
  @ApiProperty({
    description: 'At most 128 printable characters; empty when the server gave no name.',
    example: 'delete everything',
  })
  name: string;

  @ApiProperty({
    enum: REJECTED_TOOL_REASONS,
    enumName: 'RejectedToolReason',
    description:
      'Why it was left out. A name has 1 to 128 letters, digits, `_`, `-`, `.` or `/`; schemas are JSON Schemas within the limits ' +
      'of the deployment (`MCP_MAX_SCHEMA_…`) that refer to nothing outside themselves.',
    example: 'invalid_name',
  })
  reason: RejectedToolReason;
}

/** A tool that came with its flag. */
export class TakenOverToolDto {
  @ApiProperty({ description: 'Tool name.', example: 'get-env' })
  name: string;

  @ApiProperty({ description: 'Whether agents may call the tool.', example: false })
  enabled: boolean;

  @ApiProperty({
    type: () => UserReferenceDto,
    nullable: true,
    description: 'Who decided it; null where no person has looked at the tool.',
  })
  decidedBy: UserReferenceDto | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it was decided; null where that is not known.',
    example: '2026-01-31T10:20:30.123Z',
  })
  decidedAt: string | null;
}

/** What changed in one registered system. */
export class SynchronizedSystemDto {
  @ApiProperty({ format: 'uuid', description: 'Resource id of the system.' })
  resourceId: string;

  @ApiProperty({ description: 'Display name of the system.', example: 'Inventory tools' })
  name: string;

  @ApiProperty({ type: [String], description: 'Tools that are new in this system.' })
  added: string[];

  @ApiProperty({
    type: [String],
    description: 'Tools whose definition changed; the audit log names every difference.',
  })
  changed: string[];

  @ApiProperty({ type: [String], description: 'Tools that the server no longer lists.' })
  removed: string[];

  @ApiProperty({ type: [String], description: 'Tools that are back, with their old id and flag.' })
  returned: string[];

  @ApiProperty({ type: [String], description: 'Tools that are disabled now until an admin enables them.' })
  disabledForReview: string[];

  @ApiProperty({
    type: () => [TakenOverToolDto],
    description:
      'Tools of `added` whose flag was decided before about this very definition: in another version of the application, or for a ' +
      'system of this name that is gone.',
  })
  takenOver: TakenOverToolDto[];
}

/** What the server says of itself. */
export class TestedServerDto {
  @ApiProperty({ description: 'Name that the server gives itself.', example: 'inventory-mcp' })
  name: string;

  @ApiProperty({ description: 'Version that the server gives itself.', example: '2.1.0' })
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
    ],
    description: 'The outcome in the words of the interface contract.',
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

  @ApiProperty({ type: 'integer', description: 'Milliseconds the test took.', example: 42 })
  latencyMs: number;
}
