import { mayUse } from '../../app/permissions.js';
import type { Area } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

export const platform: Area = {
  name: 'platform',
  title: texts.areas.platform,
  path: '/platform',
  icon: 'M3 12h4l3-7 4 14 3-7h4',
  isOffered: () => mayUse('discovery'),
  pages: [
    { path: '/platform', load: () => import('./board.page.js') },
    { path: '/platform/changes', load: () => import('./changes.page.js') },
    { path: '/platform/scans', load: () => import('./scans.page.js') },
  ],
};
