import type { SystemSummary } from '../../../../client/src/index.js';

/** Path parameters of a system in the API. */
export interface SystemPath {
  appId: string;
  versionId: string;
  systemResourceId: string;
}

/** Path of the page of a system. */
export function systemPath({ appId, versionId, systemResourceId }: SystemPath): string {
  return `/systems/${[appId, versionId, systemResourceId].map(encodeURIComponent).join('/')}`;
}

/** Returns the path parameters of a listed system. */
export function pathOf({ appId, appVersionId, resourceId }: SystemSummary): SystemPath {
  return { appId, versionId: appVersionId, systemResourceId: resourceId };
}

/** Path of the list of systems of a version. */
export function systemListPath({ appId, versionId }: { appId: string; versionId: string }): string {
  return `/systems?${new URLSearchParams({ app: appId, version: versionId }).toString()}`;
}
