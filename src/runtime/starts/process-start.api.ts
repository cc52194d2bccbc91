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
      'data; they must match the input schema of the process. The reserved member `startCondition` picks the start event where ' +
      'there are several. `listProcesses` tells names, start conditions and schemas, and what this caller may start. Any valid token ' +
      'will do, unless the model (`svc:start`) or else the deployment (`PROCESS_START_PERMISSION`) asks for a permission, or the start ' +
      'event stands in a lane that names some. A process that stops at once is stored as `CREATED`, without tokens, and ' +
      'answered with 409, or with 400 where data is missing: `incident` names the instance and tells why. A call that is answered ' +
      'with any other error has stored nothing.',
    headers: [
      IDEMPOTENCY_KEY,
      {
        name: 'svc-platform',
        required: true,
        description: 'Platform of the client; it is stored with the instance.',
        schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,32}$', example: 'web' },
      },
    ],
    body: {
      required: false,
      description:
        'Data of the process, as its `inputSchema` in `listProcesses` says; without a body there is none.',
      schema: ANY_OBJECT,
      examples: START_BODY_EXAMPLES,
    },
    answer: {
      type: StartProcessResponseDto,
      example: START_EXAMPLE,
      headers: { ...START_RESPONSE_HEADERS, ...REPLAY_HEADER },
      description: 'The instance, where it stands now.',
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
    summary: 'List the processes of a build, and how to start them',
    description:
      'Extension of the contract. What `startProcess` asks for, by the name of the process: the start events and their conditions, ' +
      'the JSON Schema of the body, and whether this caller may start it now or why not. Any valid token will do; `buildId` is told ' +
      'by `getBuildInfo`. Follow `next` until it is null.',
    answer: { type: ProcessPageDto, example: PROCESS_PAGE_EXAMPLE, description: 'A page of processes.' },
    errors: [NO_BUILD],
  },
});
