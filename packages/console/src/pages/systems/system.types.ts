import type { SystemResponse } from '../../../../client/src/index.js';
import type { SystemPath } from './system-paths.js';

/** A system as it was read, with the version by which the service tells whether it is another by now. */
export interface KnownSystem {
  path: SystemPath;
  system: SystemResponse;
  /** Null where the answer came without one. */
  version: string | null;
}
