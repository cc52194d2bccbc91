import type { Area } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

export const tasks: Area = {
  name: 'tasks',
  title: texts.areas.tasks,
  path: '/tasks',
  icon: 'M5 12l4 4L19 6',
  isOffered: () => true,
  pages: [],
};
