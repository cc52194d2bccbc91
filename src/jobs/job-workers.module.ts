import { Module } from '@nestjs/common';
import { JobOutcomes } from './work/job-outcomes.service.js';
import { JobMetrics } from './work/job-metrics.js';
import { JobRunner } from './work/job-runner.js';
import { DatabaseTime } from '../store/tables/database-time.js';
import { JobWorkerService } from './work/job-worker.service.js';
import { JobsModule } from './jobs.module.js';
import { JobsRepository } from './storage/jobs.repository.js';

/**
 * Runs background jobs. Separate from the global `JobsModule`, because global modules are destroyed last and the workers must stop
 * before the services that their handlers use.
 */
@Module({
  imports: [JobsModule],
  providers: [JobOutcomes, JobMetrics, JobRunner, DatabaseTime, JobsRepository, JobWorkerService],
})
export class JobWorkersModule {}
