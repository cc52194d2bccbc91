import type { SystemResponse } from '../../../../clients/typescript/src/index.js';
import type { SystemPath } from './system-paths.js';

/** A system as it was read, with the tag by which the service tells whether it is another by now. */
export interface KnownSystem {
  path: SystemPath;
  system: SystemResponse;
  tag: string;
}
