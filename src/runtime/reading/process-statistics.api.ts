import { denialOf } from '../../platform/auth/auth.errors.js';
import { Permission } from '../../platform/auth/permission.js';
import { apiRoutes } from '../../platform/http/api-routes.js';
import { NO_BUILD } from '../../delivery/builds/model/build.examples.js';
import { STATISTICS_EXAMPLE } from './instance.examples.js';
import { ProcessStatisticsDto } from './process-statistics.dto.js';

export const ProcessStatisticsApi = apiRoutes([], {
  getProcessStatistics: {
    summary: 'Get what the instances of a process did, element by element',
    description:
      'Extension of the contract. For each element of the process of this build: how many instances have entered it, how many stand ' +
      'there now, times from entering to leaving, and incidents. Of instances that started from `from` on, seven days before `to` ' +
      'without it. `complete` is false where there were too many, and the newest were looked at.',
    answer: { type: ProcessStatisticsDto, example: STATISTICS_EXAMPLE, description: 'The statistics.' },
    errors: [{ 403: denialOf(Permission.ProcessRead) }, NO_BUILD, { 404: 'Process definition not found.' }],
  },
});
