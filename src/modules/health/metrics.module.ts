import { Global, Module } from '@nestjs/common';
import { MetricsController } from './metrics.controller.js';
import { Metrics } from '../../common/metrics/metrics.js';
import { MetricsServer } from './metrics.server.js';

/** Counters of the service and where they are read. */
@Global()
@Module({ controllers: [MetricsController], providers: [Metrics, MetricsServer], exports: [Metrics] })
export class MetricsModule {}
