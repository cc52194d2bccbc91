import { apiRoutes } from '../../platform/http/api-routes.js';
import { TASK_PAGE_EXAMPLE } from './instance.examples.js';
import { TaskPageDto } from './tasks.dto.js';

export const TasksApi = apiRoutes([], {
  listTasks: {
    summary: 'List what waits for the caller',
    description:
      'Extension of the contract. Tokens on which this caller can execute a UI action now, of the newest instances first. A page looks ' +
      'at so many running instances as `limit` says: those that the caller has started, and those of applications for which the token ' +
      'grants a permission. So it may hold fewer tasks, or none, and `next` still leads on. Follow it until it is null. ' +
      '`processInstanceUuid` asks for one instance, which other filters do not narrow; only then are tokens listed whose only actions ' +
      'lead back.',
    answer: { type: TaskPageDto, example: TASK_PAGE_EXAMPLE, description: 'A page of tasks.' },
    errors: [{ 403: 'Insufficient permissions' }],
  },
});
