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

/** Of a `sub` that is stored. */
const ACTOR_MAX_LENGTH = 255;
const DETAILS = `Facts of the event, never a secret:
- \`system.create\`, \`system.update\`, \`system.delete\`: \`resourceName\`, for a change also \`fields\`
- \`connection.test\`: \`origin\`, \`authorizationType\`, \`latencyMs\`, \`cause\` of a failure, \`systems\` that were synchronised, how many were \`postponed\` to the next test
- \`tools.sync\`: names of the tools \`added\`, \`removed\`, \`returned\` and \`disabledForReview\`; \`takenOver\`, tools that came with a decision (\`enabled\`, \`decidedBy\`, \`decidedAt\`); \`changed\` with the differences of each as \`path\` (JSON Pointer), \`before\` and \`after\` (JSON, cut when long); \`fields\` of the system that were filled, \`description\` or none; \`omitted\`, how many entries of a list had no room
- \`tool.switch\`: \`tool\`, \`enabled\`, \`wasEnabled\`
- \`tool.call-begin\`: \`tool\`, names of the \`arguments\`, of a call by hand that is about to be made; its \`tool.call\` has the same \`requestId\`
- \`tool.call\`: \`tool\`, names of the \`arguments\`, \`latencyMs\`; of an answer \`isError\` and \`bytes\`, otherwise \`cause\`, and \`sent\`, whether the tool may have run
- \`package.store\`: \`checksum\`, number of \`processes\` and \`workflows\`, names of the systems it added, changed and removed (50 of each at most) and of those whose secret it deleted
- \`workflow-node.create\`, \`workflow-node.update\`, \`workflow-node.delete\`: \`workflow\`, \`node\` and \`type\`
- \`version.commit\`: \`message\`; \`build.create\`: \`buildId\`, \`checksum\`; \`build.activate\`: \`buildId\`, \`previousBuildId\`
- \`workflow.test\`: \`buildId\`, \`workflow\`, \`workflowRunId\`
- \`process.hold\`, \`process.release\`, \`process.terminate\`, \`process.retry\`: \`processInstanceUuid\`, \`tokenUuid\` where a token is retried; when it was done also \`stateBefore\` and \`state\` of the instance, and of a retry \`retriedIncidents\`
- outcome \`denied\`: the \`permission\` that was missing; any other refusal: the \`code\` of the error`;

/** Which events of a version to list. Its parameters are those that were released: refusals of others name them. */
export class AuditQueryDto extends Fields({
  systemResourceId: IsQueryId('Only events of this system.'),
  ...inPages('Events'),
}) {}

export class ApplicationAuditQueryDto extends FieldsWith(AuditQueryDto, {
  applicationVersionId: IsQueryId('Only events of this version.'),
  action: IsQueryName('AuditAction', Object.values(AuditAction), 'Only this was done.'),
  outcome: IsQueryName('AuditOutcome', Object.values(AuditOutcome), 'Only what ended so.'),
  actor: IsQueryText(ACTOR_MAX_LENGTH, 'Only what this caller did: `subject` of an event, exactly.'),
  ...inRange('events that ended'),
}) {}

export class AuditEventDto extends Answer({
  id: Shows.uuid('Id of the event.'),
  timestamp: Shows.moment('When it ended.', '2026-01-31T10:20:30.123Z'),
  action: Shows.enum('AuditAction', AuditAction, 'What was done.'),
  outcome: Shows.enum(
    'AuditOutcome',
    AuditOutcome,
    'How it ended: `denied` is a missing permission, `timeout` an outside party that did not answer in time.',
  ),
  actor: Shows.part(() => UserReferenceDto, 'Who did it, as the token named the caller.'),
  subject: Shows.value('`sub` of the token, with `iss` the identity of the caller.'),
  issuer: Shows.value('`iss` of the token.'),
  systemResourceId: Shows.textOrNull('Resource id of the system.'),
  toolId: Shows.textOrNull('Id of the tool, where it is about one.'),
  requestId: Shows.value('Id that the service gave the call.'),
  callerRequestId: Shows.textOrNull('X-Request-Id of the call, as its caller chose it.'),
  details: Shows.objectOrNull(DETAILS),
}) {}

export class AuditPageDto extends Answer({
  events: Shows.list(() => AuditEventDto, 'Newest first.'),
  next: Shows.textOrNull(NEXT_PAGE),
}) {}

/** An audit event beside those of other versions. */
export class ApplicationAuditEventDto extends AnswerWith(AuditEventDto, {
  applicationVersionId: Shows.value('Version of the application that it is told to.', 'v1'),
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
