import { ApiProperty } from '@nestjs/swagger';

/** Answer of the probes. What is wrong stands in the log, not here: anybody may ask. */
export class HealthDto {
  @ApiProperty({
    enum: ['ok', 'unavailable'],
    description: 'The log says why, not the probe.',
    example: 'ok',
  })
  status: 'ok' | 'unavailable';
}
