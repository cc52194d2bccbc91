import { Answer, Shows, FieldsWith } from '../../../../platform/openapi/answer-fields.decorators.js';
import { IsPathName, WORKFLOW_NAME } from '../../../../platform/validation/patterns.decorators.js';
import { BuildParams } from '../../../../delivery/builds/model/build.params.dto.js';

export class TestRunParams extends FieldsWith(BuildParams, {
  workflowName: IsPathName(WORKFLOW_NAME, 'Name of the workflow.', 'rate_application'),
}) {}

/** Started test run. */
export class StartedTestRunDto extends Answer({
  workflowRunId: Shows.uuid('Id of the run, for reading its progress.'),
}) {}
