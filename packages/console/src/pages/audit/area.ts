import { may } from '../../app/permissions.js';
import type { Area } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

export const audit: Area = {
  name: 'audit',
  title: texts.areas.audit,
  path: '/audit',
  icon: 'M7 3h10v18H7zM10 8h4M10 12h4M10 16h2',
  isOffered: () => may('integration-management'),
  pages: [{ path: '/audit', load: () => import('./audit.page.js') }],
};
