import { apiRoutes } from '../../../common/http/api-routes.js';
import { NO_BUILD } from '../../builds/model/build.examples.js';
import { PROCESS_PAGE_EXAMPLE } from './start.examples.js';
import { ProcessPageDto } from './startable-process.dto.js';

/** What the OpenAPI document says of the routes beside it. */
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
