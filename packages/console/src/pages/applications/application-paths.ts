import type { Crumb } from '../../parts/page-head.js';
import { texts } from '../../texts/texts.js';

/** Path of the page of an application. */
export function applicationPath(appId: string): string {
  return pathOf('applications', appId);
}

/** Path of the page of a version. */
export function versionPath(appId: string, versionId: string): string {
  return pathOf('applications', appId, 'versions', versionId);
}

/** Path of the page of a build. */
export function buildPath(appId: string, buildId: string): string {
  return pathOf('applications', appId, 'builds', buildId);
}

/** Path of the page of a workflow. */
export function workflowPath(appId: string, versionId: string, workflowName: string): string {
  return pathOf('applications', appId, 'versions', versionId, 'workflows', workflowName);
}

/** Breadcrumbs to a page of an application. */
export function crumbsTo(appId: string, ...further: Crumb[]): Crumb[] {
  return [
    { title: texts.applications.title, to: '/applications' },
    { title: appId, to: applicationPath(appId) },
    ...further,
  ];
}

function pathOf(...parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}
