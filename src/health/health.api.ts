import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Difference } from './replica-differences.js';
import { apiRoutes } from '../platform/http/api-routes.js';

/** Response of the probes. The reason is only in the log, because the probes are public. */
export class HealthDto {
  @ApiProperty({
    enum: ['ok', 'unavailable'],
    description: 'The reason is only in the log.',
    example: 'ok',
  })
  status: 'ok' | 'unavailable';

  @ApiPropertyOptional({
    enum: ['release', 'settings'],
    isArray: true,
    description: 'Readiness only: how other replicas differ from this one; absent when they agree.',
    example: ['settings'],
  })
  differs?: Difference[];
}

export const HealthApi = apiRoutes([], {
  getLiveness: {
    summary: 'Liveness probe',
    description: 'Requires no token, has no rate limit and checks no dependencies.',
    isPublic: true,
    answer: { type: HealthDto, description: 'The process is alive.' },
  },
  getReadiness: {
    summary: 'Readiness probe',
    description:
      'Requires no token and has no rate limit. Writes a row to the database, at most once a second, and checks that the service has signing keys of the token issuer. Fails while the service is stopping.',
    isPublic: true,
    answer: { type: HealthDto, description: 'Ready.' },
    others: [
      {
        status: 503,
        type: HealthDto,
        example: { status: 'unavailable' },
        description:
          'Not ready; the reason is in the log. This is a state and not an error, so the body does not depend on `Accept`.',
      },
    ],
  },
});
