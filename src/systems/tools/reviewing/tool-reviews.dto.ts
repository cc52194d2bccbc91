import { Answer, NEXT_PAGE_AFTER, Shows } from '../../../platform/openapi/answer-fields.decorators.js';
import { UserReferenceDto } from '../../../platform/user/user-reference.dto.js';
import { IsPageCursor, IsQueryNumber } from '../../../platform/validation/query.decorators.js';
import type { HashedDefinition, ToolReviewPage, WaitingTool } from '../model/tool.types.js';

/** Default and maximum page size. Small, because definitions are long and people read them one by one. */
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 50;

export class ToolReviewsQueryDto {
  @IsPageCursor()
  after?: string;

  @IsQueryNumber({ min: 1, max: MAX_LIMIT }, `Tools per page; default ${DEFAULT_LIMIT}.`)
  limit = DEFAULT_LIMIT;
}

/** Why a tool awaits a decision. */
export enum ToolFinding {
  New = 'NEW',
  Changed = 'CHANGED',
}

/** Description of a tool as shown to models, without its name. */
export class ToolDefinitionDto extends Answer({
  title: Shows.textOrNull('Title; untrusted plain text.', null),
  description: Shows.value('Description by the server; untrusted plain text.', 'Open orders'),
  inputSchema: Shows.object('JSON Schema of the input.', { type: 'object' }),
  outputSchema: Shows.objectOrNull('JSON Schema of the output; null when the server declares none.'),
  annotations: Shows.objectOrNull('Behaviour hints by the server; null if absent. Untrusted.'),
  definitionHash: Shows.value('Equal for equal definitions.', '9f2c…'),
}) {}

/** Last decision about a tool, with the definition at that time. */
export class LastDecisionDto extends Answer({
  enabled: Shows.flag('Whether agents were allowed to call the tool.', true),
  decidedBy: Shows.partOrNull(
    () => UserReferenceDto,
    'Who decided; null when the rules allowed the tool and not a person.',
  ),
  decidedAt: Shows.momentOrNull('When it was decided; null when unknown.', '2026-01-30T09:00:00.000Z'),
  definition: Shows.part(() => ToolDefinitionDto, 'Definition of the tool at that time.'),
}) {}

/** A tool that awaits a decision. */
export class ToolReviewDto extends Answer({
  toolId: Shows.uuid('Tool id.'),
  name: Shows.value('Name of the tool on its server.', 'get-orders'),
  enabled: Shows.flag('Whether agents may currently call the tool.', false),
  found: Shows.enum(
    'ToolFinding',
    ToolFinding,
    'NEW: the definition is the first one of this tool. CHANGED: the tool had a different definition before.',
  ),
  foundAt: Shows.momentOrNull(
    'When the definition was found; null when unknown.',
    '2026-01-31T10:25:00.456Z',
  ),
  definition: Shows.part(() => ToolDefinitionDto, 'Current definition of the tool.'),
  decided: Shows.partOrNull(
    () => LastDecisionDto,
    'Last decision about the tool; null when unknown or never decided.',
  ),
}) {}

export class ToolReviewPageDto extends Answer({
  systemTag: Shows.value('`ETag` of the system, to send as `If-Match` with a decision.'),
  reviews: Shows.list(() => ToolReviewDto, 'In the order in which they were first found.'),
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

/** Returns why a tool awaits a decision. The rules decide when a tool is first stored and again for each new definition. */
function findingOf({ before, decidedAt, createdAt }: WaitingTool): ToolFinding {
  const isFirst = before === null && decidedAt !== null && decidedAt <= createdAt;
  return isFirst ? ToolFinding.New : ToolFinding.Changed;
}

function toDefinition(tool: HashedDefinition): ToolDefinitionDto {
  const { title, description, inputSchema, outputSchema, annotations, definitionHash } = tool;
  return { title, description, inputSchema, outputSchema, annotations, definitionHash };
}
