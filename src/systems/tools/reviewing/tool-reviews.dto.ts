import { Answer, NEXT_PAGE_AFTER, Shows } from '../../../platform/openapi/answer-fields.decorators.js';
import { UserReferenceDto } from '../../../platform/user/user-reference.dto.js';
import { IsPageCursor, IsQueryNumber } from '../../../platform/validation/query.decorators.js';
import type { HashedDefinition, ToolReviewPage, WaitingTool } from '../model/tool.types.js';

/** Tools in a page without a limit, and with one at most: definitions are long, and people read one after the other. */
const SHOWN = 20;
const MOST = 50;

export class ToolReviewsQueryDto {
  @IsPageCursor()
  after?: string;

  @IsQueryNumber({ min: 1, max: MOST }, `Tools in a page; ${SHOWN} without it.`)
  limit = SHOWN;
}

/** Why a tool waits. */
export enum ToolFinding {
  New = 'NEW',
  Changed = 'CHANGED',
}

/** All that a model is told about a tool besides its name. */
export class ToolDefinitionDto extends Answer({
  title: Shows.textOrNull('Title; plain text, not to be trusted.', null),
  description: Shows.value('What the server says it does; plain text, not to be trusted.', 'Open orders'),
  inputSchema: Shows.object('JSON Schema of the input.', { type: 'object' }),
  outputSchema: Shows.objectOrNull('JSON Schema of the output; null when the server declares none.'),
  annotations: Shows.objectOrNull(
    'What the server says of its behaviour; null without any. Not to be trusted.',
  ),
  definitionHash: Shows.value('Equal for equal definitions.', '9f2c…'),
}) {}

/** What was last decided about a tool, and about which definition. */
export class LastDecisionDto extends Answer({
  enabled: Shows.flag('Whether agents might call it.', true),
  decidedBy: Shows.partOrNull(
    () => UserReferenceDto,
    'Who decided; null where no person did, but the rules let agents call it.',
  ),
  decidedAt: Shows.momentOrNull('When; null where that was not kept.', '2026-01-30T09:00:00.000Z'),
  definition: Shows.part(() => ToolDefinitionDto, 'The tool as it was then, whole.'),
}) {}

/** A tool that waits for a decision. */
export class ToolReviewDto extends Answer({
  toolId: Shows.uuid('Tool id.'),
  name: Shows.value('Name by which the server knows it.', 'get-orders'),
  enabled: Shows.flag('Whether agents may call the tool now.', false),
  found: Shows.enum(
    'ToolFinding',
    ToolFinding,
    'NEW: it is as it was when the system first listed it. CHANGED: it was defined otherwise before.',
  ),
  foundAt: Shows.momentOrNull('When; null where that was not kept.', '2026-01-31T10:25:00.456Z'),
  definition: Shows.part(() => ToolDefinitionDto, 'The tool as it is now.'),
  decided: Shows.partOrNull(
    () => LastDecisionDto,
    'What was last decided about it; null where that is not known, or nothing ever was.',
  ),
}) {}

export class ToolReviewPageDto extends Answer({
  systemTag: Shows.value('`ETag` of the system: the `If-Match` of a decision.'),
  reviews: Shows.list(() => ToolReviewDto, 'In the order in which they were found first.'),
  next: Shows.textOrNull(NEXT_PAGE_AFTER),
}) {}

export function toToolReviewPage({ systemTag, items, next }: ToolReviewPage): ToolReviewPageDto {
  return { systemTag, reviews: items.map(toToolReview), next };
}

function toToolReview(tool: WaitingTool): ToolReviewDto {
  const { id: toolId, name, enabled, decidedAt: foundAt, before } = tool;
  const decided = before && {
    enabled: before.enabled,
    decidedBy: before.decidedBy,
    decidedAt: before.decidedAt,
    definition: toDefinition(before),
  };
  return { toolId, name, enabled, found: findingOf(tool), foundAt, definition: toDefinition(tool), decided };
}

/** The rules decided about a tool when it was stored, and do so again whenever its definition is another. */
function findingOf({ before, decidedAt, createdAt }: WaitingTool): ToolFinding {
  const isFirst = before === null && decidedAt !== null && decidedAt <= createdAt;
  return isFirst ? ToolFinding.New : ToolFinding.Changed;
}

function toDefinition(tool: HashedDefinition): ToolDefinitionDto {
  const { title, description, inputSchema, outputSchema, annotations, definitionHash } = tool;
  return { title, description, inputSchema, outputSchema, annotations, definitionHash };
}
