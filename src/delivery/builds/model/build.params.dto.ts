import { Fields, FieldsWith } from '../../../platform/openapi/answer-fields.decorators.js';
import { IsPathName, PROCESS_NAME, IsPathId } from '../../../platform/validation/patterns.decorators.js';
import { IsQueryId, inPages, inRange } from '../../../platform/validation/query.decorators.js';
import { AppParams } from '../../../apps/app.params.dto.js';
import type { DefinitionKey } from './builds.types.js';

export class BuildParams extends FieldsWith(AppParams, {
  buildId: IsPathId(
    'Id of the build; `getBuildInfo` returns the active one.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01',
  ),
}) {}

export class BuildProcessParams extends FieldsWith(BuildParams, {
  processDefinitionName: IsPathName(
    PROCESS_NAME,
    'Name of the process definition, as `listProcesses` returns it.',
    'loan_onboarding',
  ),
}) {}

export class BuildsQueryDto extends Fields({
  ...inRange('builds that were made'),
  ...inPages('Builds'),
}) {}

export class BuildDifferencesQueryDto extends Fields({
  baseBuildId: IsQueryId('Another build of the application to compare it with. Default: the active build.'),
}) {}

/** Returns the process that a path names. */
export function definitionOf({ appId, buildId, processDefinitionName }: BuildProcessParams): DefinitionKey {
  return { appId, buildId, processName: processDefinitionName };
}
