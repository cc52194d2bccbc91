import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import {
  IsPageLimit,
  IsQueryNumber,
  IsRangeEnd,
  IsRangeStart,
  IsWholeNumber,
  MAX_WHOLE_NUMBER,
} from '../../../common/validation/query.decorators.js';

/** Path of one scan. */
export class ScanParams {
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: MAX_WHOLE_NUMBER,
    description: 'Number of the scan.',
    example: 17,
  })
  @IsWholeNumber(0, MAX_WHOLE_NUMBER)
  scanId: number;
}

/** Which scans to list. */
export class ScansQueryDto {
  @IsRangeStart('those of scans that were completed')
  from?: Date;

  @IsRangeEnd('those of scans that were completed')
  to?: Date;

  @IsQueryNumber({ min: 1 }, { description: 'The `next` of the page before.' })
  before?: number;

  @IsPageLimit('Entries')
  limit?: number;
}

/** Which changes to list. */
export class ChangesQueryDto extends ScansQueryDto {
  @ApiPropertyOptional({
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    description: 'Only changes of components with this key, in any map.',
    example: 'mysql',
  })
  @Matches(/^[A-Za-z0-9_-]{1,64}$/, { message: 'must be 1 to 64 letters, digits, "_" or "-"' })
  @IsOptional()
  key?: string;
}
