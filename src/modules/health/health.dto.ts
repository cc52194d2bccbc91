import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Difference } from './replica-differences.js';

/** Answer of the probes. What is wrong stands in the log, not here: anybody may ask. */
export class HealthDto {
  @ApiProperty({
    enum: ['ok', 'unavailable'],
    description: 'The log says why, not the probe.',
    example: 'ok',
  })
  status: 'ok' | 'unavailable';

  @ApiPropertyOptional({
    enum: ['release', 'settings'],
    isArray: true,
    description: 'Of readiness: in what other replicas differ from this one; absent where they agree.',
    example: ['settings'],
  })
  differs?: Difference[];
}
