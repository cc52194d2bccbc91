import type { Area } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

export const tasks: Area = {
  name: 'tasks',
  title: texts.areas.tasks,
  path: '/tasks',
  icon: 'M5 12l4 4L19 6',
  // Processes may name permissions of their own: the list of processes says what the person may start.
  isOffered: () => true,
  pages: [
    { path: '/tasks', load: () => import('./list.page.js') },
    { path: '/tasks/start', load: () => import('./start.page.js') },
    { path: '/tasks/:uuid', load: () => import('./task.page.js') },
  ],
};
