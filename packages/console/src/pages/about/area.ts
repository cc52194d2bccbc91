import type { Area } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

export const about: Area = {
  name: 'about',
  title: texts.areas.about,
  path: '/about',
  icon: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 11v6M12 7.5v.01',
  isOffered: () => true,
  pages: [{ path: '/about', load: () => import('./about.page.js') }],
};
