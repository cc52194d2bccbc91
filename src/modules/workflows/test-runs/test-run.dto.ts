import { ApiProperty } from '@nestjs/swagger';
import { IsPathName, WORKFLOW_NAME } from '../../../common/validation/path-names.js';
import { IsPathId } from '../../../common/validation/patterns.decorators.js';
import type { TestRunKey } from '../model/workflow.types.js';

/** Path of one workflow of a build. */
export class TestRunParams {
  @IsPathId({ description: 'Id of the application, as its platform names it.', example: 'sample' })
  appId: string;

  @IsPathId({ description: 'Id of the build.', example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10' })
  buildId: string;

  @IsPathName(WORKFLOW_NAME, { description: 'Name of the workflow.', example: 'rate_application' })
  workflowName: string;
}

/** A run that was begun. */
export class StartedTestRunDto {
  @ApiProperty({ format: 'uuid', description: 'Id of the run: read it to see how it goes.' })
  workflowRunId: string;
}

/** The workflow that a path names. */
export function testRunKey({ appId, buildId, workflowName }: TestRunParams): TestRunKey {
  return { appId, buildId, workflow: workflowName };
}
