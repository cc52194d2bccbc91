import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsDate, IsIn, IsInt, IsOptional, IsUUID, Matches, Max, Min } from 'class-validator';
import { parseDateTime } from '../../../common/iso-8601.js';
import { IsPathId, PATH_ID, PATH_ID_RULE } from '../../../common/validation/patterns.decorators.js';
import { PROCESS_NAME } from '../../builds/dto/build.params.dto.js';
import type { InstanceStatus } from '../engine/engine.types.js';
import { INSTANCE_STATES } from './start.response.dto.js';

const MAX_LIMIT = 200;
const MAX_SEQ = 2_147_483_647;
const TIME_RULE = 'must be an ISO 8601 date and time';
const NUMBER_RULE = 'must be a whole number';

/** A moment as a query writes it; the `+` of an offset may have become a space. */
const toDate = ({ value }: { value: unknown }): unknown => {
  const moment = typeof value === 'string' ? parseDateTime(value.replace(' ', '+')) : undefined;
  return moment === undefined ? value : new Date(moment);
};

const toNumber = ({ value }: { value: unknown }): unknown =>
  /^\d{1,10}$/.test(String(value)) ? Number(value) : value;

/** The ways in which `ONHOLD` is written. */
const toState = ({ value }: { value: unknown }): unknown =>
  value === 'ON_HOLD' || value === 'ON HOLD' ? 'ONHOLD' : value;

/** Path of one process instance. */
export class InstanceParams {
  @IsPathId({
    description: '`uuid` of the process instance.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
  })
  uuid: string;
}

/** Path of one token. */
export class InstanceTokenParams extends InstanceParams {
  @IsPathId({ description: '`uuid` of the token.', example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20' })
  tokenUuid: string;
}

/** Which process instances to list. */
export class InstancesQueryDto {
  @ApiPropertyOptional({
    type: String,
    pattern: PATH_ID.source,
    description: 'Only processes of this application.',
    example: 'sample',
  })
  @Matches(PATH_ID, { message: PATH_ID_RULE })
  @IsOptional()
  applicationId?: string;

  @ApiPropertyOptional({
    type: String,
    pattern: PROCESS_NAME.source,
    description: 'Only processes of this name.',
    example: 'loan_onboarding',
  })
  @Matches(PROCESS_NAME, { message: 'must be the name of a process' })
  @IsOptional()
  processDefinitionName?: string;

  @ApiPropertyOptional({
    enum: [...INSTANCE_STATES, 'ON_HOLD', 'ON HOLD'],
    description: 'Only instances in this state; `ON_HOLD` and `ON HOLD` are other ways to write `ONHOLD`.',
    example: 'STARTED',
  })
  @Transform(toState)
  @IsIn(INSTANCE_STATES, { message: `must be one of ${INSTANCE_STATES.join(', ')}` })
  @IsOptional()
  state?: InstanceStatus;

  @ApiPropertyOptional({ format: 'uuid', description: 'Only processes that this instance started itself.' })
  @IsUUID(undefined, { message: 'must be a UUID' })
  @IsOptional()
  parentProcessInstanceUuid?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    description: 'Only instances that started at this time or later; UTC without an offset.',
  })
  @Transform(toDate)
  @IsDate({ message: TIME_RULE })
  @IsOptional()
  startedFrom?: Date;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    description: 'Only instances that started before this time.',
  })
  @Transform(toDate)
  @IsDate({ message: TIME_RULE })
  @IsOptional()
  startedTo?: Date;

  @ApiPropertyOptional({ format: 'uuid', description: 'The `next` of the page before.' })
  @IsUUID('7', { message: 'must be the next of a page' })
  @IsOptional()
  before?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    description:
      'Instances in a page; `PROCESS_PAGE_SIZE` without it, 50 unless the deployment says otherwise.',
  })
  @Transform(toNumber)
  @Max(MAX_LIMIT, { message: `must be at most ${MAX_LIMIT}` })
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: NUMBER_RULE })
  @IsOptional()
  limit?: number;
}

/** Which part of an audit trail to read. */
export class HistoryQueryDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_SEQ,
    description: 'Only events before this number, newest first; that is also the order without `after`.',
  })
  @Transform(toNumber)
  @Max(MAX_SEQ, { message: `must be at most ${MAX_SEQ}` })
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: NUMBER_RULE })
  @IsOptional()
  before?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_SEQ,
    description: 'Only events after this number, oldest first. Not together with `before`.',
  })
  @Transform(toNumber)
  @Max(MAX_SEQ, { message: `must be at most ${MAX_SEQ}` })
  @Min(0, { message: 'must be at least 0' })
  @IsInt({ message: NUMBER_RULE })
  @IsOptional()
  after?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    description: 'Events in a page; `PROCESS_PAGE_SIZE` without it, 50 unless the deployment says otherwise.',
  })
  @Transform(toNumber)
  @Max(MAX_LIMIT, { message: `must be at most ${MAX_LIMIT}` })
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: NUMBER_RULE })
  @IsOptional()
  limit?: number;
}
