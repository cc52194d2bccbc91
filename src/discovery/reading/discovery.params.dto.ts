import { Fields, FieldsWith } from '../../platform/openapi/answer-fields.decorators.js';
import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import {
  IsPageLimit,
  IsQueryNumber,
  IsWholeNumber,
  MAX_WHOLE_NUMBER,
  IsInQuery,
  inRange,
} from '../../platform/validation/query.decorators.js';

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

export class ScansQueryDto extends Fields({
  ...inRange('those of scans that were completed'),
  before: IsQueryNumber({ min: 1 }, 'The `next` of the previous page.'),
  limit: IsPageLimit('Entries'),
}) {}

export class ChangesQueryDto extends FieldsWith(ScansQueryDto, {
  key: IsInQuery<string>(
    {
      pattern: '^[A-Za-z0-9_-]{1,64}$',
      description: 'Only changes of components with this key, in any map.',
      example: 'mysql',
    },
    Matches(/^[A-Za-z0-9_-]{1,64}$/, { message: 'must be 1 to 64 letters, digits, "_" or "-"' }),
  ),
}) {}
