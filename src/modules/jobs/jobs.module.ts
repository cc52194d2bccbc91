import { Global, Module } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Log } from '../../common/logging/log.js';
import { RedisModule } from '../../common/redis/redis.module.js';
import { RedisService } from '../../common/redis/redis.service.js';
import { Env } from '../../config/env.js';
import { JobBroker } from './broker/job-broker.js';
import { JobRelay } from './broker/job-relay.js';
import { JobHandlersService } from './queue/job-handlers.service.js';
import { JobQueueService } from './queue/job-queue.service.js';
import { JobSignal } from './queue/job-signal.js';

/** Durable background jobs. Global, because any module may add jobs and register handlers. */
@Global()
@Module({
  imports: [RedisModule],
  providers: [
    JobHandlersService,
    JobQueueService,
    JobSignal,
    {
      provide: JobRelay,
      inject: [Env, Log, Clock, RedisService, JobSignal],
      useFactory: async (env: Env, log: Log, clock: Clock, redis: RedisService, signal: JobSignal) =>
        new JobRelay(await JobBroker.load(env, log, redis.connections), env, clock, () => signal.wake()),
    },
  ],
  exports: [JobHandlersService, JobQueueService, JobSignal, JobRelay],
})
export class JobsModule {}
