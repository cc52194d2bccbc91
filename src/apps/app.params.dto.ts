import { Fields, FieldsWith } from '../platform/openapi/answer-fields.decorators.js';
import { IsPathId } from '../platform/validation/patterns.decorators.js';
import type { AppVersionKey } from './apps.types.js';

export class AppParams extends Fields({
  appId: IsPathId('Id of the application in its platform.', 'sample'),
}) {}

export class AppVersionParams extends FieldsWith(AppParams, {
  versionId: IsPathId('Id of the application version.', 'v1'),
}) {}

/** Returns the path segments that all routes of a version start with. */
export function pathOf({ appId, versionId }: AppVersionParams): string[] {
  return ['appmanager', 'api', 'resource', 'app', appId, 'app-version', versionId];
}

/** Returns the version named in a path. */
export function versionOf({ appId, versionId }: AppVersionParams): AppVersionKey {
  return { appId, appVersionId: versionId };
}
