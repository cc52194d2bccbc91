import type { Area } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

export const tasks: Area = {
  name: 'tasks',
  title: texts.areas.tasks,
  path: '/tasks',
  icon: 'M5 12l4 4L19 6',
  // Packages can define their own permissions, so only the list of processes shows what a user may start.
  isOffered: () => true,
  pages: [
    { path: '/tasks', load: () => import('./list.page.js') },
    { path: '/tasks/start', load: () => import('./start.page.js') },
    { path: '/tasks/:uuid', load: () => import('./task.page.js') },
  ],
};
