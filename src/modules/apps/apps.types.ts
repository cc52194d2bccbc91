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

/** What the manifest records about a version. */
export interface AppVersionStatus extends AppVersionKey {
  state: AppVersionState;
  committedAt: Date | null;
}
