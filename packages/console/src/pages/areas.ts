import { about } from './about/area.js';
import { agentRuns } from './agent-runs/area.js';
import { applications } from './applications/area.js';
import { audit } from './audit/area.js';
import { home } from './home/area.js';
import { instances } from './instances/area.js';
import { platform } from './platform/area.js';
import { systems } from './systems/area.js';
import { tasks } from './tasks/area.js';
import type { Area } from '../shell/area.js';

/** Areas in the order of the navigation. */
export const areas: readonly Area[] = [
  home,
  systems,
  applications,
  instances,
  tasks,
  agentRuns,
  platform,
  audit,
  about,
].filter(({ pages }) => pages.length > 0);
