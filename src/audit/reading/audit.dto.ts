import {
  Answer,
  AnswerWith,
  Shows,
  NEXT_PAGE,
  Fields,
  FieldsWith,
} from '../../platform/openapi/answer-fields.decorators.js';
import type { Page } from '../../platform/validation/page.js';
import { UserReferenceDto } from '../../platform/user/user-reference.dto.js';
import {
  IsQueryId,
  IsQueryText,
  IsQueryName,
  inPages,
  inRange,
} from '../../platform/validation/query.decorators.js';
import { AuditAction, AuditOutcome } from '../model/audit.types.js';
import type { AuditEventEntity } from '../storage/audit-event.entity.js';

/** Column width of the stored `sub`. */
const ACTOR_MAX_LENGTH = 255;
const DETAILS = `Details of the event, without secrets:
- \`system.create\`, \`system.update\`, \`system.delete\`: \`resourceName\`, for an update also \`fields\`
- \`connection.test\`: \`origin\`, \`authorizationType\`, \`latencyMs\`, \`cause\` of a failure, \`systems\` that were synchronised, how many were \`postponed\` to the next test
- \`tools.sync\`: names of the tools \`added\`, \`removed\`, \`returned\` and \`disabledForReview\`; \`takenOver\`, tools that inherited a decision (\`enabled\`, \`decidedBy\`, \`decidedAt\`); \`changed\` with the differences of each tool as \`path\` (JSON Pointer), \`before\` and \`after\` (JSON, truncated when long); \`fields\` of the system that were filled, \`description\` or none; \`omitted\`, number of entries of each list that did not fit
- \`tool.switch\`: \`tool\`, \`enabled\`, \`wasEnabled\`
- \`tool.call-begin\`: \`tool\`, names of the \`arguments\`; recorded before a call by hand, whose \`tool.call\` has the same \`requestId\`
- \`tool.call\`: \`tool\`, names of the \`arguments\`, \`latencyMs\`; with an answer \`isError\` and \`bytes\`, otherwise \`cause\` and \`sent\`, whether the tool may have run
- \`package.store\`: \`checksum\`, number of \`processes\` and \`workflows\`, names of the systems added, changed and removed (at most 50 of each) and of those whose secret was deleted
- \`workflow-node.create\`, \`workflow-node.update\`, \`workflow-node.delete\`: \`workflow\`, \`node\` and \`type\`
- \`version.commit\`: \`message\`; \`build.create\`: \`buildId\`, \`checksum\`; \`build.activate\`: \`buildId\`, \`previousBuildId\`
- \`workflow.test\`: \`buildId\`, \`workflow\`, \`workflowRunId\`
- \`process.hold\`, \`process.release\`, \`process.terminate\`, \`process.retry\`: \`processInstanceUuid\`, \`tokenUuid\` when one token is retried; on success also \`stateBefore\` and \`state\` of the instance, and \`retriedIncidents\` of a retry
- outcome \`denied\`: the missing \`permission\`; other failed requests: the \`code\` of the error`;

/** Filter of `listAuditEvents`. Released as it is: error messages about other parameters list these. */
export class AuditQueryDto extends Fields({
  systemResourceId: IsQueryId('Only events of this system.'),
  ...inPages('Events'),
}) {}

export class ApplicationAuditQueryDto extends FieldsWith(AuditQueryDto, {
  applicationVersionId: IsQueryId('Only events of this version.'),
  action: IsQueryName('AuditAction', Object.values(AuditAction), 'Only this action.'),
  outcome: IsQueryName('AuditOutcome', Object.values(AuditOutcome), 'Only this outcome.'),
  actor: IsQueryText(ACTOR_MAX_LENGTH, 'Only events of this caller: the exact `subject` of an event.'),
  ...inRange('events that ended'),
}) {}

export class AuditEventDto extends Answer({
  id: Shows.uuid('Id of the event.'),
  timestamp: Shows.moment('When the action ended.', '2026-01-31T10:20:30.123Z'),
  action: Shows.enum('AuditAction', AuditAction, 'What was done.'),
  outcome: Shows.enum(
    'AuditOutcome',
    AuditOutcome,
    'Outcome. `denied`: a permission is missing; `timeout`: an external party did not answer in time.',
  ),
  actor: Shows.part(() => UserReferenceDto, 'Caller, as named by the token.'),
  subject: Shows.value('`sub` of the token; together with `iss` it identifies the caller.'),
  issuer: Shows.value('`iss` of the token.'),
  systemResourceId: Shows.textOrNull('Resource id of the system.'),
  toolId: Shows.textOrNull('Id of the tool, if the event is about one.'),
  requestId: Shows.value('Id that the service assigned to the request.'),
  callerRequestId: Shows.textOrNull('`X-Request-Id` that the caller sent.'),
  details: Shows.objectOrNull(DETAILS),
}) {}

export class AuditPageDto extends Answer({
  events: Shows.list(() => AuditEventDto, 'Newest first.'),
  next: Shows.textOrNull(NEXT_PAGE),
}) {}

/** An audit event with its version. */
export class ApplicationAuditEventDto extends AnswerWith(AuditEventDto, {
  applicationVersionId: Shows.value('Version of the application that the event is about.', 'v1'),
}) {}

export class ApplicationAuditPageDto extends Answer({
  events: Shows.list(() => ApplicationAuditEventDto, 'Newest first.'),
  next: Shows.textOrNull(NEXT_PAGE),
}) {}

export function toApplicationAuditPage({ items, next }: Page<AuditEventEntity>): ApplicationAuditPageDto {
  const events = items.map((event) => ({
    ...toAuditEvent(event),
    applicationVersionId: event.appVersionId,
  }));
  return { events, next };
}

export function toAuditPage({ items, next }: Page<AuditEventEntity>): AuditPageDto {
  return { events: items.map(toAuditEvent), next };
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
    callerRequestId: event.callerRequestId,
    details: event.details,
  };
}
