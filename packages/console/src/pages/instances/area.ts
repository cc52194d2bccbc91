import type { Area } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

export const instances: Area = {
  name: 'instances',
  title: texts.areas.instances,
  path: '/instances',
  icon: 'M3 12h5M16 12h5M8 8h8v8H8z',
  // Users without process-read see their own instances.
  isOffered: () => true,
  pages: [
    { path: '/instances', load: () => import('./list.page.js') },
    { path: '/instances/incidents', load: () => import('./incidents.page.js') },
    { path: '/instances/heat/:appId/:buildId/:process', load: () => import('./heat-map.page.js') },
    { path: '/instances/:uuid', load: () => import('./instance.page.js') },
  ],
};
