import {
  BUILT_IN_PERMISSIONS,
  type BuiltInPermission,
} from '../../../src/platform/config/permission-rules.js';

/** User who signs in at the console. */
export interface Persona {
  /** Subject and login name. */
  name: string;
  firstName: string;
  lastName: string;
  /** Permissions, as realm roles. */
  roles: readonly BuiltInPermission[];
}

/** Test users. */
export const PERSONAS = {
  admin: { name: 'ada.admin', firstName: 'Ada', lastName: 'Admin', roles: BUILT_IN_PERMISSIONS },
  operator: {
    name: 'otto.operator',
    firstName: 'Otto',
    lastName: 'Operator',
    roles: ['process-read', 'process-administration'],
  },
  integrator: {
    name: 'ina.integrator',
    firstName: 'Ina',
    lastName: 'Integrator',
    roles: ['integration-management'],
  },
  author: {
    name: 'arno.author',
    firstName: 'Arno',
    lastName: 'Author',
    roles: ['application-delivery', 'workflow-test'],
  },
  clerk: { name: 'carla.clerk', firstName: 'Carla', lastName: 'Clerk', roles: [] },
} as const satisfies Record<string, Persona>;

/** Name of a test user. */
export type PersonaName = keyof typeof PERSONAS;
