import type { PageQuery } from '../platform/validation/page.js';
import type { TimeRange } from '../store/tables/conditions.js';

/** Key of one application version. Both ids are opaque, 1 to 64 characters. */
export interface AppVersionKey {
  appId: string;
  appVersionId: string;
}

/** Whether an application version may still be written to. */
export enum AppVersionState {
  Draft = 'DRAFT',
  Committed = 'COMMITTED',
}

/** Kinds of dependency between application versions. */
export enum DependencyType {
  Library = 'LIB',
}

/** Filter for the versions of an application, by state and creation time. */
export interface VersionsQuery extends PageQuery, TimeRange {
  appId: string;
  status?: AppVersionState;
}

/** State and commit time of a version, as shown in the manifest. */
export interface AppVersionStatus extends AppVersionKey {
  state: AppVersionState;
  committedAt: Date | null;
}

/** An application version with its creation time. */
export interface StoredVersion extends AppVersionStatus {
  createdAt: Date;
}
