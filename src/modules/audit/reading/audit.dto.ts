import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import { IsPathId } from '../../../common/validation/patterns.decorators.js';
import { IsPageCursor, IsPageLimit } from '../../../common/validation/query.decorators.js';
import { AuditAction, AuditOutcome } from '../model/audit.types.js';
import type { AuditPage } from '../storage/audit-page.types.js';
import type { AuditEventEntity } from '../storage/audit-event.entity.js';

const DETAILS = `Facts of the event, never a secret:
- \`system.create\`, \`system.update\`, \`system.delete\`: \`resourceName\`, for a change also \`fields\`
- \`connection.test\`: \`origin\`, \`authorizationType\`, \`latencyMs\`, \`cause\` of a failure, \`systems\` that were synchronised, how many were \`postponed\` to the next test
- \`tools.sync\`: names of the tools \`added\`, \`removed\`, \`returned\` and \`disabledForReview\`; \`takenOver\`, tools that came with a decision (\`enabled\`, \`decidedBy\`, \`decidedAt\`); \`changed\` with the differences of each as \`path\` (JSON Pointer), \`before\` and \`after\` (JSON, cut when long); \`fields\` of the system that were filled, \`description\` or none; \`omitted\`, how many entries of a list had no room
- \`tool.switch\`: \`tool\`, \`enabled\`, \`wasEnabled\`
- \`package.store\`: \`checksum\`, number of \`processes\` and \`workflows\`, names of the systems it added, changed and removed (50 of each at most) and of those whose secret it deleted
- \`workflow-node.create\`, \`workflow-node.update\`, \`workflow-node.delete\`: \`workflow\`, \`node\` and \`type\`
- \`version.commit\`: \`message\`; \`build.create\`: \`buildId\`, \`checksum\`; \`build.activate\`: \`buildId\`, \`previousBuildId\`
- \`workflow.test\`: \`buildId\`, \`workflow\`, \`workflowRunId\`
- \`process.hold\`, \`process.release\`, \`process.terminate\`, \`process.retry\`: \`processInstanceUuid\`, \`tokenUuid\` where a token is retried; when it was done also \`stateBefore\` and \`state\` of the instance, and of a retry \`retriedIncidents\`
- outcome \`denied\`: the \`permission\` that was missing; any other refusal: the \`code\` of the error`;

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

  @IsPageCursor()
  before?: string;

  @IsPageLimit('Events in a page; `AUDIT_PAGE_SIZE` without it, 50 unless the deployment says otherwise.')
  limit?: number;
}

/** One audit event. */
export class AuditEventDto {
  @ApiProperty({ format: 'uuid', description: 'Id of the event.' })
  id: string;

  @ApiProperty({ format: 'date-time', description: 'When it ended.', example: '2026-01-31T10:20:30.123Z' })
  timestamp: string;

  @ApiProperty({ enum: AuditAction, enumName: 'AuditAction', description: 'What was done.' })
  action: AuditAction;

  @ApiProperty({
    enum: AuditOutcome,
    enumName: 'AuditOutcome',
    description:
      'How it ended: `denied` is a missing permission, `timeout` an outside party that did not answer in time.',
  })
  outcome: AuditOutcome;

  @ApiProperty({ type: () => UserReferenceDto, description: 'Who did it, as the token named the caller.' })
  actor: UserReferenceDto;

  @ApiProperty({ description: '`sub` of the token, with `iss` the identity of the caller.' })
  subject: string;

  @ApiProperty({ description: '`iss` of the token.' })
  issuer: string;

  @ApiProperty({ type: String, nullable: true, description: 'Resource id of the system.' })
  systemResourceId: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Id of the tool, where it is about one.' })
  toolId: string | null;

  @ApiProperty({ description: 'X-Request-Id of the call.' })
  requestId: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: DETAILS,
  })
  details: Record<string, unknown> | null;
}

/** A page of audit events. */
export class AuditPageDto {
  @ApiProperty({ type: () => [AuditEventDto], description: 'Newest first.' })
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
