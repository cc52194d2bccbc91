import type { SystemSummary } from '../../../../client/src/index.js';

/** Names a system in paths of the API. */
export interface SystemPath {
  appId: string;
  versionId: string;
  systemResourceId: string;
}

/** Where the page of a system is. */
export function placeOfSystem({ appId, versionId, systemResourceId }: SystemPath): string {
  return `/systems/${[appId, versionId, systemResourceId].map(encodeURIComponent).join('/')}`;
}

/** How a system of a list is named in paths. */
export function pathOf({ appId, appVersionId, resourceId }: SystemSummary): SystemPath {
  return { appId, versionId: appVersionId, systemResourceId: resourceId };
}

/** Where the list of a version is. */
export function placeOfList({ appId, versionId }: { appId: string; versionId: string }): string {
  return `/systems?${new URLSearchParams({ app: appId, version: versionId }).toString()}`;
}
