import type { AppVersionKey } from '../../apps/apps.types.js';
import type { ConnectionTestResult } from '../../mcp-connection/model/connection-test.types.js';
import type { SystemEntity } from '../../systems/storage/system.entity.js';
import type { SyncReport } from '../model/tool.types.js';

/** What became of one system that a test covers. */
export interface SynchronisedSystem {
  system: Pick<SystemEntity, 'resourceId' | 'name'>;
  report: SyncReport;
}

/** Where a connection is tested: in a version, as that of a system where it is one that is stored. */
export interface TestedPlace extends AppVersionKey {
  resourceId?: string;
}

/** A test and what it changed. */
export interface ConnectionTest {
  result: ConnectionTestResult;
  synchronised: SynchronisedSystem[];
  /** Systems whose turn did not come within `syncTimeoutMs`; they come first in the next test. */
  postponed: number;
}
