import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { IsPathId } from '../../../common/validation/patterns.decorators.js';
import type { TestRunKey } from '../workflow.types.js';

/** The name rule of resources, as long as a name may be. */
export const WORKFLOW_NAME = /^[A-Za-z0-9[\]().\-_]{1,255}$/;

/** Path of one workflow of a build. */
export class TestRunParams {
  @IsPathId({ description: 'Id of the application, as its platform names it.', example: 'sample' })
  appId: string;

  @IsPathId({ description: 'Id of the build.', example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10' })
  buildId: string;

  @ApiProperty({
    type: String,
    pattern: WORKFLOW_NAME.source,
    description: 'Name of the workflow.',
    example: 'rate_application',
  })
  @Matches(WORKFLOW_NAME, {
    message: 'must be 1 to 255 letters, digits, "[", "]", "(", ")", ".", "_" or "-"',
  })
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
