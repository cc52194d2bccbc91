import { apiRoutes } from '../../platform/http/api-routes.js';
import { TASK_PAGE_EXAMPLE } from './instance.examples.js';
import { TaskPageDto } from './tasks.dto.js';

export const TasksApi = apiRoutes([], {
  listTasks: {
    summary: 'List tasks of the caller',
    description:
      'Extension of the contract. Tokens on which the caller can execute a UI action now, newest instances first. `limit` is the number of ' +
      'running instances examined per page: those that the caller started, and those of applications for which the bearer token ' +
      'grants a permission. A page may therefore have few tasks or none although more follow; follow `next` until it is null. ' +
      '`processInstanceUuid` selects one instance and overrides the other filters; only then are tokens listed whose only actions ' +
      'go back.',
    answer: { type: TaskPageDto, example: TASK_PAGE_EXAMPLE, description: 'A page of tasks.' },
    errors: [{ 403: 'Insufficient permissions' }],
  },
});
