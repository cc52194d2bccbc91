import { denialOf } from '../../../platform/auth/auth.errors.js';
import { Permission } from '../../../platform/auth/permission.js';
import { ANY_OBJECT, apiRoutes } from '../../../platform/http/api-routes.js';
import { ToolCallResponseDto } from './tool-call.dto.js';

export const ToolCallApi = apiRoutes([], {
  callTool: {
    summary: 'Call a tool by hand',
    description:
      'Extension of the contract. The body contains the arguments. Calls the real tool with the credentials of its system, under the same rules as calls of agents: ' +
      'the tool must be enabled and still have its reviewed definition, arguments must match its input schema, and time and result are limited ' +
      '(30 seconds, 64 KiB). The HTTP status is 200 even when the tool does not answer; see `outcome`. Audit events are recorded before and after the call; the tool is not called if the first one cannot be stored. ' +
      '403 when `TOOL_CALLS` is off. Shares the rate limit of connection tests.',
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
      description: 'Outcome of the call.',
    },
    errors: [
      { 403: denialOf(Permission.ToolCall) },
      { 404: 'Tool not found.' },
      { 409: 'The tool is disabled and cannot be called.' },
    ],
  },
});
