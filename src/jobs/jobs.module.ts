import { Global, Module } from '@nestjs/common';
import { JobHandlersService } from './queue/job-handlers.service.js';
import { JobQueueService } from './queue/job-queue.service.js';
import { JobSignal } from './queue/job-signal.js';

/** Durable background jobs. Global, because any module may add jobs and register handlers. */
@Global()
@Module({
  providers: [JobHandlersService, JobQueueService, JobSignal],
  exports: [JobHandlersService, JobQueueService, JobSignal],
})
export class JobsModule {}
