import { may } from '../../app/permissions.js';
import type { Area } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

export const applications: Area = {
  name: 'applications',
  title: texts.areas.applications,
  path: '/applications',
  icon: 'M12 3 20 7.5v9L12 21l-8-4.5v-9zM4 7.5 12 12l8-4.5M12 12v9',
  isOffered: () => may('application-delivery'),
  pages: [
    { path: '/applications', load: () => import('./applications.page.js') },
    // Not below /applications, where any name can be that of an application.
    { path: '/deliver', load: () => import('./deliver.page.js') },
    { path: '/applications/:appId', load: () => import('./application.page.js') },
    { path: '/applications/:appId/builds/:buildId', load: () => import('./build.page.js') },
    { path: '/applications/:appId/versions/:versionId', load: () => import('./version.page.js') },
    {
      path: '/applications/:appId/versions/:versionId/workflows/:workflowName',
      load: () => import('./workflow.page.js'),
    },
  ],
};
