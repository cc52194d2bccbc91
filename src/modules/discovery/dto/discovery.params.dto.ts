import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Matches, Max, Min } from 'class-validator';

const MAX_LIMIT = 100;

/** A whole number as a path or query writes it; anything else stays text, which the rules refuse. */
const toNumber = ({ value }: { value: unknown }): unknown =>
  /^\d{1,15}$/.test(String(value)) ? Number(value) : value;

/** Path of one scan. */
export class ScanParams {
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Number of the scan.', example: 17 })
  @Transform(toNumber)
  @IsInt({ message: 'must be a whole number' })
  scanId: number;
}

/** Which scans to list. */
export class ScansQueryDto {
  @ApiPropertyOptional({ type: 'integer', minimum: 1, description: 'The `next` of the page before.' })
  @Transform(toNumber)
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: 'must be a whole number' })
  @IsOptional()
  before?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    description:
      'Entries in a page; `DISCOVERY_PAGE_SIZE` without it, 50 unless the deployment says otherwise.',
  })
  @Transform(toNumber)
  @Max(MAX_LIMIT, { message: `must be at most ${MAX_LIMIT}` })
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: 'must be a whole number' })
  @IsOptional()
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
