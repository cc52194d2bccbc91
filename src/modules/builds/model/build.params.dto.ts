import { IsPathName, PROCESS_NAME } from '../../../common/validation/path-names.js';
import { IsPathId } from '../../../common/validation/patterns.decorators.js';
import { IsPageCursor, IsPageLimit } from '../../../common/validation/query.decorators.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { DefinitionKey } from './builds.types.js';

/** Path of one application. */
export class AppParams {
  @IsPathId({ description: 'Id of the application, as its platform names it.', example: 'sample' })
  appId: string;
}

/** Path of one application version. */
export class DeliveryParams extends AppParams {
  @IsPathId({ description: 'Id of the application version.', example: 'v1' })
  versionId: string;
}

/** Path of one build. */
export class BuildParams extends AppParams {
  @IsPathId({ description: 'Id of the build.', example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10' })
  buildId: string;
}

/** Path of a process in a build. */
export class BuildProcessParams extends BuildParams {
  @IsPathName(PROCESS_NAME, {
    description: 'Name of the process definition.',
    example: 'loan_onboarding',
  })
  processDefinitionName: string;
}

/** Which builds to list. */
export class BuildsQueryDto {
  @IsPageCursor()
  before?: string;

  @IsPageLimit('Builds in a page, 50 without it.')
  limit?: number;
}

/** The version that a path names. */
export function versionOf({ appId, versionId }: DeliveryParams): AppVersionKey {
  return { appId, appVersionId: versionId };
}

/** The process that a path names. */
export function definitionOf({ appId, buildId, processDefinitionName }: BuildProcessParams): DefinitionKey {
  return { appId, buildId, processName: processDefinitionName };
}
