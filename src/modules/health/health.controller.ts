import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../../common/auth/public.decorator.js';
import { HealthDto } from './health.dto.js';
import { HealthService } from './health.service.js';

/** Probes for orchestrators and load balancers. */
@ApiTags('Health')
@Public()
@Controller()
export class HealthController {
  constructor(private readonly health: HealthService) {}

  @Get('livez')
  @ApiOperation({
    operationId: 'getLiveness',
    summary: 'Is the process alive?',
    description: 'Needs no token, has no rate limit and looks at nothing else.',
    security: [],
  })
  @ApiOkResponse({ type: HealthDto, description: 'The process is alive.' })
  live(): HealthDto {
    return { status: 'ok' };
  }

  @Get('readyz')
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'May callers be sent here?',
    description:
      'Needs no token and has no rate limit. Makes a small write to the database, at most once a second, and looks whether there are signing keys of the token issuer; fails while the service stops.',
    security: [],
  })
  @ApiOkResponse({ type: HealthDto, description: 'Ready.' })
  @ApiResponse({
    status: 503,
    type: HealthDto,
    example: { status: 'unavailable' },
    description: 'Not ready; the log says why.',
  })
  async ready(@Res({ passthrough: true }) response: Response): Promise<HealthDto> {
    const isReady = await this.health.isReady();
    response.status(isReady ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return { status: isReady ? 'ok' : 'unavailable' };
  }
}
