import { Fields, FieldsWith } from '../platform/openapi/answer-fields.decorators.js';
import { IsPathId } from '../platform/validation/patterns.decorators.js';
import type { AppVersionKey } from './apps.types.js';

export class AppParams extends Fields({
  appId: IsPathId('Id of the application, as its platform names it.', 'sample'),
}) {}

export class AppVersionParams extends FieldsWith(AppParams, {
  versionId: IsPathId('Id of the application version.', 'v1'),
}) {}

/** The segments that the paths of a version begin with. */
export function pathOf({ appId, versionId }: AppVersionParams): string[] {
  return ['appmanager', 'api', 'resource', 'app', appId, 'app-version', versionId];
}

/** The version that a path names. */
export function versionOf({ appId, versionId }: AppVersionParams): AppVersionKey {
  return { appId, appVersionId: versionId };
}
