import type { Area } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

export const home: Area = {
  name: 'home',
  title: texts.areas.home,
  path: '/',
  icon: 'M4 11 12 4l8 7M6 10v9h4v-5h4v5h4v-9',
  isOffered: () => true,
  pages: [{ path: '/', load: () => import('./home.page.js') }],
};
