import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { JsonValue } from '../../../common/json.js';
import { scrub, scrubJson } from '../../../common/logging/scrub.js';
import { IsText } from '../../../common/validation/patterns.decorators.js';
import { CallKind, CallState, type RunCall, type RunCallPage } from '../model/call-journal.types.js';
import { ANY_JSON } from '../model/any-json.js';

const KEY_MAX_LENGTH = 191;
const MAX_LIMIT = 100;

/** Which calls of a run to show. */
export class WorkflowCallsQueryDto {
  @IsText(1, KEY_MAX_LENGTH, { required: false, description: 'The `next` of the page before.' })
  @IsOptional()
  after?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    description: 'Calls in a page; `WORKFLOW_PAGE_SIZE` without it, 50 unless the deployment says otherwise.',
  })
  @Transform(({ value }) => (/^\d{1,9}$/.test(String(value)) ? Number(value) : value))
  @Max(MAX_LIMIT, { message: `must be at most ${MAX_LIMIT}` })
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: 'must be a whole number' })
  @IsOptional()
  limit?: number;
}

/** What a call has used up. */
export class WorkflowCallUsageDto {
  @ApiProperty({ type: 'integer', nullable: true, description: 'Tokens of the question.', example: 412 })
  inputTokens: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Tokens of the answer.', example: 36 })
  outputTokens: number | null;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'What it cost, in the currency of the provider; null where the provider does not tell.',
    example: null,
  })
  cost: number | null;
}

/** One call of a run to the outside. */
export class WorkflowCallDto {
  @ApiProperty({
    description:
      'Names the call in its run: `<step>/<id of the node>/…`; an agent counts its turns (`m1`) and the calls of tools in each (`m1.t1`).',
    example: '2/advise/m1.t1',
  })
  key: string;

  @ApiProperty({ enum: CallKind, enumName: 'WorkflowCallKind', description: 'What was called.' })
  kind: CallKind;

  @ApiProperty({
    enum: CallState,
    enumName: 'WorkflowCallState',
    description:
      '`CLAIMED`: begun. `DONE`: answered, never made again. `FAILED`: without effect, a retry makes it again. `UNKNOWN`: nobody knows whether it was made; a retry of the incident makes it once more. `RELEASED`: that retry was asked for.',
  })
  state: CallState;

  @ApiProperty({ type: 'integer', description: 'How often it was begun.', example: 1 })
  tries: number;

  @ApiProperty({
    format: 'date-time',
    description: 'When it began last.',
    example: '2026-01-31T10:20:30.130Z',
  })
  startedAt: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it ended; null if it has not, or nobody knows.',
    example: '2026-01-31T10:20:30.180Z',
  })
  finishedAt: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Milliseconds from `startedAt` to `finishedAt`.',
    example: 50,
  })
  durationMs: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What came of it: `OK`, or why not, such as `TOOL_DISABLED`, `TIMEOUT` or `HTTP_503`.',
    example: 'OK',
  })
  outcome: string | null;

  @ApiProperty({ type: () => WorkflowCallUsageDto, nullable: true, description: 'What a model has counted.' })
  usage: WorkflowCallUsageDto | null;

  @ApiProperty({
    ...ANY_JSON,
    description:
      'The question: of a model the messages that are new in it, of a tool its name and arguments. Its beginning as a text where it was too large.',
    example: {
      name: 'everything__echo',
      system: 'everything',
      tool: 'echo',
      arguments: { message: 'hello' },
    },
  })
  request: JsonValue;

  @ApiProperty({
    ...ANY_JSON,
    description: 'The answer; null until there is one. Its beginning as a text where it is too large.',
    example: { ok: true, result: 'Echo: hello' },
  })
  response: JsonValue;

  @ApiProperty({
    isArray: true,
    enum: ['request', 'response'],
    description: 'Which of the two are only beginnings.',
    example: [],
  })
  cut: ('request' | 'response')[];
}

/** A page of the calls of a run. */
export class WorkflowCallPageDto {
  @ApiProperty({ type: () => [WorkflowCallDto], description: 'In the order in which they were begun.' })
  calls: WorkflowCallDto[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Give it as `after` to read on; null on the last page.',
  })
  next: string | null;
}

/** @param maxLength characters of a response that are shown */
export function toWorkflowCallPage({ calls, next, maxLength }: RunCallPage): WorkflowCallPageDto {
  return { calls: calls.map((call) => toWorkflowCall(call, maxLength)), next };
}

function toWorkflowCall(call: RunCall, maxLength: number): WorkflowCallDto {
  const { key, kind, state, tries, startedAt, finishedAt, outcome, usage } = call;
  const request = shown(call.request, Buffer.byteLength(call.request) < call.requestBytes);
  const text = call.response ?? 'null';
  const response = shown(text.slice(0, maxLength), text.length > maxLength);
  return {
    key,
    kind,
    state,
    tries,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
    durationMs: finishedAt === null ? null : finishedAt.getTime() - startedAt.getTime(),
    outcome,
    usage:
      usage === null
        ? null
        : { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, cost: usage.cost },
    request: request.value,
    response: response.value,
    cut: [
      ...(request.isCut ? (['request'] as const) : []),
      ...(response.isCut ? (['response'] as const) : []),
    ],
  };
}

/** JSON without what looks like a secret: neither models nor tools were asked to keep theirs. */
function shown(json: string, isCut: boolean): { value: JsonValue; isCut: boolean } {
  return { value: isCut ? scrub(json) : scrubJson(JSON.parse(json) as JsonValue), isCut };
}
