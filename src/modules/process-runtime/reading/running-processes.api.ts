import { denialOf } from '../../../common/auth/auth.errors.js';
import { Permission } from '../../../common/auth/permission.js';
import { apiRoutes } from '../../../common/http/api-routes.js';
import { RUNNING_PROCESSES_EXAMPLE } from './instance.examples.js';
import { RunningProcessesDto } from './running-processes.dto.js';

/** What the OpenAPI document says of the routes beside it. */
export const RunningProcessesApi = apiRoutes([{ 403: denialOf(Permission.ProcessRead) }], {
  countRunningProcesses: {
    summary: 'Count running process instances by process',
    description:
      'Extension of the contract. How many instances run (state STARTED) for each application and process, most first.',
    answer: { type: RunningProcessesDto, example: RUNNING_PROCESSES_EXAMPLE, description: 'The counts.' },
  },
});
