import { ANY_OBJECT, apiRoutes } from '../../platform/http/api-routes.js';
import { REPLAY_HEADER } from '../../platform/http/answer-headers.js';
import {
  START_BODY_EXAMPLES,
  START_EXAMPLE,
  START_RESPONSE_HEADERS,
  PROCESS_PAGE_EXAMPLE,
} from './start.examples.js';
import { IDEMPOTENCY_KEY } from '../../idempotency/idempotency-key.dto.js';
import { ProcessErrorResponseDto, STOPPED } from '../model/stopped.response.dto.js';
import { StartProcessResponseDto } from '../model/start.response.dto.js';
import { NO_BUILD } from '../../delivery/builds/model/build.examples.js';
import { ProcessPageDto } from './startable-process.dto.js';

export const ProcessStartApi = apiRoutes([], {
  startProcess: {
    summary: 'Start a process',
    description:
      'Starts an instance of a process of a build and runs it to its first wait states. The members of the body become process ' +
      'data; they must match the input schema of the process. The reserved member `startCondition` selects the start event if ' +
      'there are several. `listProcesses` returns names, start conditions and schemas, and what this caller may start. Requires any ' +
      'valid token, unless the model (`svc:start`) or else the deployment (`PROCESS_START_PERMISSION`) requires a permission, or the ' +
      'lane of the start event requires one. A process that stops at once is stored as `CREATED`, without tokens, and the response ' +
      'is 409, or 400 if data is missing: `incident` names the instance and gives the reason. After any other error ' +
      'nothing is stored.',
    headers: [
      IDEMPOTENCY_KEY,
      {
        name: 'svc-platform',
        required: true,
        description: 'Platform of the client, which is stored with the instance.',
        schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,32}$', example: 'web' },
      },
    ],
    body: {
      required: false,
      description:
        'Process data that matches the `inputSchema` in `listProcesses`. Without a body the process starts without data.',
      schema: ANY_OBJECT,
      examples: START_BODY_EXAMPLES,
    },
    answer: {
      type: StartProcessResponseDto,
      example: START_EXAMPLE,
      headers: { ...START_RESPONSE_HEADERS, ...REPLAY_HEADER },
      description: 'The instance and its tokens.',
    },
    errors: [
      {
        400: {
          message: 'Some mandatory params are missing.',
          details: 'client',
          type: ProcessErrorResponseDto,
          headers: REPLAY_HEADER,
        },
      },
      { 403: 'Insufficient permissions to act in this lane of the process' },
      { 404: 'Process definition not found.' },
      { 409: { ...STOPPED, headers: REPLAY_HEADER } },
    ],
  },
});

export const StartableProcessesApi = apiRoutes([], {
  listProcesses: {
    summary: 'List the processes of a build and how to start them',
    description:
      'Extension of the contract. What `startProcess` requires, by process name: the start events and their conditions, ' +
      'the JSON Schema of the body, and whether this caller may start the process now, or why not. Requires any valid token. ' +
      '`getBuildInfo` returns the `buildId`. Follow `next` until it is null.',
    answer: { type: ProcessPageDto, example: PROCESS_PAGE_EXAMPLE, description: 'A page of processes.' },
    errors: [NO_BUILD],
  },
});
