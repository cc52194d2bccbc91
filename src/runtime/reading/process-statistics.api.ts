import { denialOf } from '../../platform/auth/auth.errors.js';
import { Permission } from '../../platform/auth/permission.js';
import { apiRoutes } from '../../platform/http/api-routes.js';
import { NO_BUILD } from '../../delivery/builds/model/build.examples.js';
import { STATISTICS_EXAMPLE } from './instance.examples.js';
import { ProcessStatisticsDto } from './process-statistics.dto.js';

export const ProcessStatisticsApi = apiRoutes([], {
  getProcessStatistics: {
    summary: 'Get statistics of a process by element',
    description:
      'Extension of the contract. For each element of the process in this build: how many instances have entered it, how many are ' +
      'there now, times from entering to leaving, and incidents. Includes instances that started at or after `from`, by default seven ' +
      'days before `to`. `complete` is false if there were too many and only the newest are included.',
    answer: { type: ProcessStatisticsDto, example: STATISTICS_EXAMPLE, description: 'The statistics.' },
    errors: [{ 403: denialOf(Permission.ProcessRead) }, NO_BUILD, { 404: 'Process definition not found.' }],
  },
});
