import { may } from '../../app/permissions.js';
import type { Area } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

export const instances: Area = {
  name: 'instances',
  title: texts.areas.instances,
  path: '/instances',
  icon: 'M3 12h5M16 12h5M8 8h8v8H8z',
  isOffered: () => may('process-read'),
  pages: [],
};
