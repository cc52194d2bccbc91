import { may } from '../../app/permissions.js';
import type { Area } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

export const systems: Area = {
  name: 'systems',
  title: texts.areas.systems,
  path: '/systems',
  icon: 'M4 5h16v5H4zM4 14h16v5H4zM8 7.5h.01M8 16.5h.01',
  isOffered: () => may('integration-management'),
  pages: [
    { path: '/systems', load: () => import('./systems.page.js') },
    { path: '/systems/register', load: () => import('./register.page.js') },
    { path: '/systems/:appId/:versionId/:systemResourceId', load: () => import('./system.page.js') },
  ],
};
