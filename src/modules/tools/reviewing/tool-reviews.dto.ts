import { NEXT_PAGE_AFTER, Shows } from '../../../common/answer-fields.decorators.js';
import { UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import { IsPageCursor, IsQueryNumber } from '../../../common/validation/query.decorators.js';
import type { DecidedDefinition, HashedDefinition, WaitingTool } from '../model/tool.types.js';
import { TOOL_REVIEWS_MOST, TOOL_REVIEWS_SHOWN, type ToolReviewPage } from './tool-reviews.service.js';

/** Which tools to list. */
export class ToolReviewsQueryDto {
  @IsPageCursor()
  after?: string;

  @IsQueryNumber(
    { min: 1, max: TOOL_REVIEWS_MOST },
    { description: `Tools in a page; ${TOOL_REVIEWS_SHOWN} without it.` },
  )
  limit?: number;
}

/** Why a tool waits. */
export enum ToolFinding {
  New = 'NEW',
  Changed = 'CHANGED',
}

/** All that a model is told about a tool besides its name. */
export class ToolDefinitionDto {
  @Shows.textOrNull('Title; plain text, not to be trusted.', null)
  title: string | null;

  @Shows.value('What the server says it does; plain text, not to be trusted.', 'Open orders')
  description: string;

  @Shows.object('JSON Schema of the input.', { type: 'object' })
  inputSchema: Record<string, unknown>;

  @Shows.objectOrNull('JSON Schema of the output; null when the server declares none.')
  outputSchema: Record<string, unknown> | null;

  @Shows.objectOrNull('What the server says of its behaviour; null without any. Not to be trusted.')
  annotations: Record<string, unknown> | null;

  @Shows.value('Equal for equal definitions.', '9f2c…')
  definitionHash: string;
}

/** What was last decided about a tool, and about which definition. */
export class LastDecisionDto {
  @Shows.value('Whether agents might call it.', true)
  enabled: boolean;

  @Shows.partOrNull(
    () => UserReferenceDto,
    'Who decided; null where no person did, but the rules let agents call it.',
  )
  decidedBy: UserReferenceDto | null;

  @Shows.momentOrNull('When; null where that was not kept.', '2026-01-30T09:00:00.000Z')
  decidedAt: string | null;

  @Shows.part(() => ToolDefinitionDto, 'The tool as it was then, whole.')
  definition: ToolDefinitionDto;
}

/** A tool that waits for a decision. */
export class ToolReviewDto {
  @Shows.uuid('Tool id.')
  toolId: string;

  @Shows.value('Name by which the server knows it.', 'get-orders')
  name: string;

  @Shows.value('Whether agents may call the tool now.', false)
  enabled: boolean;

  @Shows.enum(
    'ToolFinding',
    ToolFinding,
    'NEW: it is as it was when the system first listed it. CHANGED: it was defined otherwise before.',
  )
  found: ToolFinding;

  @Shows.momentOrNull('When; null where that was not kept.', '2026-01-31T10:25:00.456Z')
  foundAt: string | null;

  @Shows.part(() => ToolDefinitionDto, 'The tool as it is now.')
  definition: ToolDefinitionDto;

  @Shows.partOrNull(
    () => LastDecisionDto,
    'What was last decided about it; null where that is not known, or nothing ever was.',
  )
  decided: LastDecisionDto | null;
}

/** A page of tools that wait for a decision. */
export class ToolReviewPageDto {
  @Shows.value('`ETag` of the system: the `If-Match` of a decision.')
  systemTag: string;

  @Shows.list(() => ToolReviewDto, 'In the order in which they were found first.')
  reviews: ToolReviewDto[];

  @Shows.textOrNull(NEXT_PAGE_AFTER)
  next: string | null;
}

export function toToolReviewPage({ systemTag, items, next }: ToolReviewPage): ToolReviewPageDto {
  return { systemTag, reviews: items.map(toToolReview), next };
}

function toToolReview(tool: WaitingTool): ToolReviewDto {
  const { id, name, enabled, decidedAt, before } = tool;
  return {
    toolId: id,
    name,
    enabled,
    found: findingOf(tool),
    foundAt: decidedAt?.toISOString() ?? null,
    definition: toDefinition(tool),
    decided: before && toLastDecision(before),
  };
}

/** The rules decided about a tool when it was stored, and do so again whenever its definition is another. */
function findingOf({ before, decidedAt, createdAt }: WaitingTool): ToolFinding {
  const isFirst = before === null && decidedAt !== null && decidedAt <= createdAt;
  return isFirst ? ToolFinding.New : ToolFinding.Changed;
}

function toLastDecision(before: DecidedDefinition): LastDecisionDto {
  const { enabled, decidedBy, decidedAt } = before;
  return {
    enabled,
    decidedBy,
    decidedAt: decidedAt?.toISOString() ?? null,
    definition: toDefinition(before),
  };
}

function toDefinition(tool: HashedDefinition): ToolDefinitionDto {
  const { title, description, inputSchema, outputSchema, annotations, definitionHash } = tool;
  return { title, description, inputSchema, outputSchema, annotations, definitionHash };
}
