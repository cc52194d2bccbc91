import { Module } from '@nestjs/common';
import { DependencyMetrics } from './dependency-metrics.js';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';
import { ProbeThreadService } from './probe-thread.service.js';
import { ReplicaDifferences } from './replica-differences.js';

/** Health probes and metrics of dependencies. */
@Module({
  controllers: [HealthController],
  providers: [DependencyMetrics, HealthService, ProbeThreadService, ReplicaDifferences],
  exports: [HealthService],
})
export class HealthModule {}
