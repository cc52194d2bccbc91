import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsDate, IsEnum, IsInt, IsOptional, IsUUID, Max, Min } from 'class-validator';
import { parseDateTime } from '../../../common/iso-8601.js';
import { IsPathId, IsText } from '../../../common/validation/patterns.decorators.js';
import { WorkflowRunState } from '../workflow.types.js';

const MAX_LIMIT = 100;
const TIME_RULE = 'must be an ISO 8601 date and time';

/** A moment as a query writes it; the `+` of an offset may have become a space. */
const toDate = ({ value }: { value: unknown }): unknown => {
  const moment = typeof value === 'string' ? parseDateTime(value.replace(' ', '+')) : undefined;
  return moment === undefined ? value : new Date(moment);
};

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

  @ApiPropertyOptional({ format: 'uuid', description: 'Only runs that this process instance started.' })
  @IsUUID(undefined, { message: 'must be a UUID' })
  @IsOptional()
  processInstanceUuid?: string;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'Only the subworkflows that this run started itself.',
  })
  @IsUUID(undefined, { message: 'must be a UUID' })
  @IsOptional()
  parentRunId?: string;

  @IsText(1, 255, { required: false, description: 'Only runs of workflows with this name.' })
  @IsOptional()
  workflow?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    description: 'Only runs that started at this time or later; UTC without an offset.',
  })
  @Transform(toDate)
  @IsDate({ message: TIME_RULE })
  @IsOptional()
  from?: Date;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    description: 'Only runs that started before this time.',
  })
  @Transform(toDate)
  @IsDate({ message: TIME_RULE })
  @IsOptional()
  to?: Date;

  @ApiPropertyOptional({ format: 'uuid', description: 'The `next` of the page before.' })
  @IsUUID('7', { message: 'must be the next of a page' })
  @IsOptional()
  before?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    description: 'Runs in a page; `WORKFLOW_PAGE_SIZE` without it, 50 unless the deployment says otherwise.',
  })
  @Transform(({ value }) => (/^\d{1,9}$/.test(String(value)) ? Number(value) : value))
  @Max(MAX_LIMIT, { message: `must be at most ${MAX_LIMIT}` })
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: 'must be a whole number' })
  @IsOptional()
  limit?: number;
}
