import type { Crumb } from '../../parts/page-head.js';
import { texts } from '../../texts/texts.js';

/** Where the page of an application is. */
export function placeOfApplication(appId: string): string {
  return placeOf('applications', appId);
}

/** Where the page of a version is. */
export function placeOfVersion(appId: string, versionId: string): string {
  return placeOf('applications', appId, 'versions', versionId);
}

/** Where the page of a build is. */
export function placeOfBuild(appId: string, buildId: string): string {
  return placeOf('applications', appId, 'builds', buildId);
}

/** Where the page of a workflow is. */
export function placeOfWorkflow(appId: string, versionId: string, workflowName: string): string {
  return placeOf('applications', appId, 'versions', versionId, 'workflows', workflowName);
}

/** The way to a page of an application. */
export function crumbsTo(appId: string, ...further: Crumb[]): Crumb[] {
  return [
    { title: texts.applications.title, to: '/applications' },
    { title: appId, to: placeOfApplication(appId) },
    ...further,
  ];
}

function placeOf(...parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}
