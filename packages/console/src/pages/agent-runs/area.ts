import { may } from '../../app/permissions.js';
import type { Area } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

export const agentRuns: Area = {
  name: 'agent-runs',
  title: texts.areas.agentRuns,
  path: '/agent-runs',
  icon: 'M4 5h16v11H9l-5 4zM8 9h8M8 12h5',
  isOffered: () => may('process-read'),
  pages: [
    { path: '/agent-runs', load: () => import('./list.page.js') },
    { path: '/agent-runs/:id', load: () => import('./run.page.js') },
  ],
};
