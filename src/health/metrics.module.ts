import { Controller, Get, Global, Header, Module } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Env } from '../platform/config/env.js';
import { Public } from '../platform/auth/access.decorators.js';
import { RouteNotFoundError } from '../platform/errors/request.errors.js';
import { Metrics } from '../platform/observability/metrics/metrics.js';

/** `/metrics` on the main port; METRICS_PORT moves it to a port of its own. */
@ApiExcludeController()
@Public()
@Controller('metrics')
class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    private readonly env: Env,
  ) {}

  @Get()
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  async read(): Promise<string> {
    if (this.env.get('METRICS_PORT') !== 0) {
      throw new RouteNotFoundError();
    }
    return this.metrics.text();
  }
}

/** Metrics of the service and their route. */
@Global()
@Module({ controllers: [MetricsController], providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}
