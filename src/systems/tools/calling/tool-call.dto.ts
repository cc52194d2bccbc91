import { ApiProperty } from '@nestjs/swagger';
import { Answer, Shows, shown } from '../../../platform/openapi/answer-fields.decorators.js';
import type { JsonValue } from '#engine/json';

export enum HandCallOutcome {
  Ok = 'OK',
  ToolError = 'TOOL_ERROR',
  Failed = 'FAILED',
}

/** Result of a tool that was called by hand. */
export class ToolCallResponseDto extends Answer({
  outcome: Shows.enum(
    'ToolCallOutcome',
    HandCallOutcome,
    'OK: the tool returned a result. TOOL_ERROR: the tool returned an error. FAILED: there is no answer from the tool.',
    'OK',
  ),
  message: Shows.textOrNull('Human-readable reason why there is no answer; null when there is one.', null),
  mayHaveRun: Shows.booleanOrNull(
    'Without an answer: whether the tool may still have run. Null when there is an answer.',
    null,
  ),
  text: Shows.value(
    'All content as plain text without invisible characters; content that is not text is only named. If the server rejects the call, its message. Untrusted.',
    '42',
  ),
  structured: shown<JsonValue | null>(
    ApiProperty({
      description: '`structuredContent` of the answer; null if absent. Untrusted.',
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
  latencyMs: Shows.number('Duration of the call in milliseconds, including the wait for other calls.', 120),
}) {}
