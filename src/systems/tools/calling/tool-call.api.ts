import { denialOf } from '../../../platform/auth/auth.errors.js';
import { Permission } from '../../../platform/auth/permission.js';
import { ANY_OBJECT, apiRoutes } from '../../../platform/http/api-routes.js';
import { ToolCallResponseDto } from './tool-call.dto.js';

export const ToolCallApi = apiRoutes([], {
  callTool: {
    summary: 'Call a tool by hand',
    description:
      'Extension of the contract. The body is the arguments. The tool is really called, with the credentials of its system, and everything that holds for calls of agents holds: ' +
      'it must be enabled and defined as it was reviewed, arguments must fit its input schema, and time and size of the answer are bounded ' +
      '(30 seconds, 64 KiB of result). The HTTP status is 200 also where the tool does not answer: see `outcome`. Each call is an audit event before it is made, and one afterwards; without the first it is not made. ' +
      '403 where `TOOL_CALLS` is off. The rate limit is that of connection tests.',
    body: {
      schema: ANY_OBJECT,
      required: false,
      examples: { sum: { summary: 'Arguments', value: { a: 40, b: 2 } } },
    },
    answer: {
      type: ToolCallResponseDto,
      example: {
        outcome: 'OK',
        message: null,
        mayHaveRun: null,
        text: 'The sum is 42.',
        structured: null,
        latencyMs: 120,
      },
      description: 'What came of the call.',
    },
    errors: [
      { 403: denialOf(Permission.ToolCall) },
      { 404: 'Tool not found.' },
      { 409: 'The tool is disabled: nobody may call it.' },
    ],
  },
});
