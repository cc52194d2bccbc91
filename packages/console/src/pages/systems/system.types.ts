import type { SystemResponse } from '../../../../client/src/index.js';
import type { SystemPath } from './system-paths.js';

/** Loaded system with the ETag for changes. */
export interface KnownSystem {
  path: SystemPath;
  system: SystemResponse;
  /** Null if the response had no ETag. */
  version: string | null;
}
