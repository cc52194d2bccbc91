import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Difference } from './replica-differences.js';
import { apiRoutes } from '../platform/http/api-routes.js';

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

export const HealthApi = apiRoutes([], {
  getLiveness: {
    summary: 'Is the process alive?',
    description: 'Needs no token, has no rate limit and looks at nothing else.',
    isPublic: true,
    answer: { type: HealthDto, description: 'The process is alive.' },
  },
  getReadiness: {
    summary: 'May callers be sent here?',
    description:
      'Needs no token and has no rate limit. Makes a small write to the database, at most once a second, and looks whether there are signing keys of the token issuer; fails while the service stops.',
    isPublic: true,
    answer: { type: HealthDto, description: 'Ready.' },
    others: [
      {
        status: 503,
        type: HealthDto,
        example: { status: 'unavailable' },
        description:
          'Not ready; the log says why. A state and no error: the body is the same whatever is accepted.',
      },
    ],
  },
});
