import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import { IsPathId } from '../../../common/validation/patterns.decorators.js';
import { AuditAction, AuditOutcome, type AuditPage } from '../audit.types.js';
import type { AuditEventEntity } from '../entities/audit-event.entity.js';

const MAX_LIMIT = 500;

/** Path of the audit log. */
export class AuditParams {
  @IsPathId({ description: 'Id of the application, as its platform names it.', example: 'sample' })
  appId: string;

  @IsPathId({ description: 'Id of the application version.', example: 'v1' })
  versionId: string;
}

/** Which events to list. */
export class AuditQueryDto {
  @IsPathId({ required: false, description: 'Only events of this system.' })
  @IsOptional()
  systemResourceId?: string;

  @IsPathId({ required: false, description: 'The `next` of the page before.' })
  @IsOptional()
  before?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    description: 'Events in a page; AUDIT_PAGE_SIZE without it.',
  })
  @Type(() => Number)
  @IsInt({ message: 'must be a whole number' })
  @Min(1, { message: 'must be at least 1' })
  @Max(MAX_LIMIT, { message: `must be at most ${MAX_LIMIT}` })
  @IsOptional()
  limit?: number;
}

/** One audit event. */
export class AuditEventDto {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ format: 'date-time', example: '2026-01-31T10:20:30.123Z' })
  timestamp: string;

  @ApiProperty({ enum: AuditAction, enumName: 'AuditAction' })
  action: AuditAction;

  @ApiProperty({ enum: AuditOutcome, enumName: 'AuditOutcome' })
  outcome: AuditOutcome;

  @ApiProperty({ type: () => UserReferenceDto, description: 'Who did it, as the token named the caller.' })
  actor: UserReferenceDto;

  @ApiProperty({ description: '`sub` of the token, with `iss` the identity of the caller.' })
  subject: string;

  @ApiProperty({ description: '`iss` of the token.' })
  issuer: string;

  @ApiProperty({ type: String, nullable: true, description: 'Resource id of the system.' })
  systemResourceId: string | null;

  @ApiProperty({ type: String, nullable: true })
  toolId: string | null;

  @ApiProperty({ description: 'X-Request-Id of the call.' })
  requestId: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description:
      'Facts by action; for a synchronisation every field of a tool that changed, before and after.',
  })
  details: Record<string, unknown> | null;
}

/** A page of audit events. */
export class AuditPageDto {
  @ApiProperty({ type: () => [AuditEventDto] })
  events: AuditEventDto[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Give it as `before` to read on; null on the last page.',
  })
  next: string | null;
}

export function toAuditPage({ events, next }: AuditPage): AuditPageDto {
  return { events: events.map(toAuditEvent), next };
}

function toAuditEvent(event: AuditEventEntity): AuditEventDto {
  return {
    id: event.id,
    timestamp: event.occurredAt.toISOString(),
    action: event.action,
    outcome: event.outcome,
    actor: event.actor,
    subject: event.actorSubject,
    issuer: event.actorIssuer,
    systemResourceId: event.systemResourceId,
    toolId: event.toolId,
    requestId: event.requestId,
    details: event.details,
  };
}
