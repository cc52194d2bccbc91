import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../platform/auth/access.decorators.js';
import { HealthApi, HealthDto } from './health.api.js';
import { HealthService } from './health.service.js';

/** Probes for orchestrators and load balancers. */
@ApiTags('Health')
@Public()
@Controller()
export class HealthController {
  constructor(private readonly health: HealthService) {}

  @Get('livez')
  @HealthApi.getLiveness
  live(): HealthDto {
    return { status: 'ok' };
  }

  @Get('readyz')
  @HealthApi.getReadiness
  async ready(@Res({ passthrough: true }) response: Response): Promise<HealthDto> {
    const isReady = await this.health.isReady();
    response.status(isReady ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    const { differs } = this.health;
    return { status: isReady ? 'ok' : 'unavailable', ...(differs.length > 0 && { differs: [...differs] }) };
  }
}
