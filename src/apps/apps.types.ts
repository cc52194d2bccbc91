import type { PageQuery } from '../platform/validation/page.js';
import type { TimeRange } from '../store/tables/conditions.js';

/** Names one application version. Both ids are opaque, 1 to 64 characters. */
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

/** Which versions of an application to list: by their state, and by when they came into being. */
export interface VersionsQuery extends PageQuery, TimeRange {
  appId: string;
  status?: AppVersionState;
}

/** What the manifest records about a version. */
export interface AppVersionStatus extends AppVersionKey {
  state: AppVersionState;
  committedAt: Date | null;
}

/** A version, and when it came into being. */
export interface StoredVersion extends AppVersionStatus {
  createdAt: Date;
}
