import { ApiProperty } from '@nestjs/swagger';
import { Answer, Shows, shown } from '../../../platform/openapi/answer-fields.decorators.js';
import type { JsonValue } from '#engine/json';

export enum HandCallOutcome {
  Ok = 'OK',
  ToolError = 'TOOL_ERROR',
  Failed = 'FAILED',
}

/** What a tool that was called by hand has answered. */
export class ToolCallResponseDto extends Answer({
  outcome: Shows.enum(
    'ToolCallOutcome',
    HandCallOutcome,
    'OK: the tool has answered. TOOL_ERROR: it has answered with an error of its own. FAILED: there is no answer of it.',
    'OK',
  ),
  message: Shows.textOrNull('Why there is no answer, for a person; null when there is one.', null),
  mayHaveRun: Shows.booleanOrNull(
    'Without an answer: whether the tool may have run all the same. null when there is an answer.',
    null,
  ),
  text: Shows.value(
    'All content as plain text: texts as they are without characters that a person cannot see, other kinds named. Of a call that the server refuses, what it says of that. Not to be trusted.',
    '42',
  ),
  structured: shown<JsonValue | null>(
    ApiProperty({
      description: '`structuredContent` of the answer; null without any. Not to be trusted.',
      nullable: true,
      oneOf: [
        { type: 'object', additionalProperties: true },
        { type: 'array', items: {} },
        { type: 'string' },
        { type: 'number' },
        { type: 'boolean' },
      ],
      example: { sum: 42 },
    }),
  ),
  latencyMs: Shows.number('Milliseconds that the call took, waiting for other calls included.', 120),
}) {}
