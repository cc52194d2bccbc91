import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsEnum, IsOptional } from 'class-validator';
import { IsPathId, IsText } from '../../../common/validation/patterns.decorators.js';
import {
  IsPageCursor,
  IsPageLimit,
  IsRangeEnd,
  IsRangeStart,
  IsQueryUuid,
} from '../../../common/validation/query.decorators.js';
import { WorkflowRunState } from '../model/workflow.types.js';

/** Path of one workflow run. */
export class WorkflowRunParams {
  @IsPathId({ description: 'Id of the run.', example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40' })
  workflowRunId: string;
}

/** Which runs to list. */
export class WorkflowRunsQueryDto {
  @ApiPropertyOptional({
    enum: WorkflowRunState,
    enumName: 'WorkflowRunState',
    description: 'Only runs in this state.',
  })
  @IsEnum(WorkflowRunState, { message: 'must be STARTED, FINISHED, FAILED or CANCELLED' })
  @IsOptional()
  state?: WorkflowRunState;

  @IsQueryUuid('Only runs that this process instance started.')
  processInstanceUuid?: string;

  @IsQueryUuid('Only the subworkflows that this run started itself.')
  parentRunId?: string;

  @IsText(1, 255, { required: false, description: 'Only runs of workflows with this name.' })
  @IsOptional()
  workflow?: string;

  @IsRangeStart('runs that started')
  from?: Date;

  @IsRangeEnd('runs that started')
  to?: Date;

  @IsPageCursor()
  before?: string;

  @IsPageLimit('Runs')
  limit?: number;
}
