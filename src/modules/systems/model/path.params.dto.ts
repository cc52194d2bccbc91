import { IsPathId } from '../../../common/validation/patterns.decorators.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { SystemKey } from './system.types.js';

/** Path of everything inside one application version. */
export class AppVersionParams {
  @IsPathId({ description: 'Id of the application, as its platform names it.', example: 'sample' })
  appId: string;

  @IsPathId({ description: 'Id of the application version.', example: 'v1' })
  versionId: string;
}

/** Path of one system. */
export class SystemParams extends AppVersionParams {
  @IsPathId({ description: '`resourceId` of the system.', example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10' })
  systemResourceId: string;
}

/** The version that a path names. */
export function versionOf({ appId, versionId }: AppVersionParams): AppVersionKey {
  return { appId, appVersionId: versionId };
}

/** The system that a path names. */
export function keyOf({ appId, versionId, systemResourceId }: SystemParams): SystemKey {
  return { appId, appVersionId: versionId, resourceId: systemResourceId };
}
