import { Module } from '@nestjs/common';
import { JobEnds } from './work/job-ends.service.js';
import { JobMetrics } from './work/job-metrics.js';
import { JobRunner } from './work/job-runner.js';
import { DatabaseTime } from '../store/tables/database-time.js';
import { JobWorkerService } from './work/job-worker.service.js';
import { JobsModule } from './jobs.module.js';
import { JobsRepository } from './storage/jobs.repository.js';

/**
 * The workers. A module of its own, imported by the application alone. Global modules are destroyed last, and the workers must
 * stop before the services of their handlers go away.
 */
@Module({
  imports: [JobsModule],
  providers: [JobEnds, JobMetrics, JobRunner, DatabaseTime, JobsRepository, JobWorkerService],
})
export class JobWorkersModule {}
