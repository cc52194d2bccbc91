import 'reflect-metadata';
import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { built } from '../../../test/support/built.js';
import type { Job } from '../../../src/jobs/model/job-queue.types.js';

/**
 * Runs the built background jobs of one replica without the rest of the service. Each job updates its row and inserts one,
 * in a transaction that it may share, like process steps. Adds jobs on request. Sends port 0 when it is ready.
 */

const KIND = 'bench';
const BATCH_SIZE = 500;

/** Request of the parent process to add jobs that become due every `everyMs` milliseconds from `begin`. */
interface JobsRequest {
  count: number;
  begin: number;
  everyMs: number;
}

@Entity('bench_jobs')
class BenchJob {
  @PrimaryColumn({ type: 'bigint' }) id: number;
  @Column({ type: 'datetime', precision: 3 }) due: Date;
  @Column({ type: 'datetime', name: 'ended_at', precision: 3, nullable: true }) endedAt: Date | null;
}

@Entity('bench_events')
class BenchEvent {
  @PrimaryColumn({ type: 'bigint', name: 'job_id' }) jobId: number;
  @Column({ type: 'datetime', precision: 3 }) at: Date;
}

const { Clock } = await built<typeof import('../../../src/platform/clock.js')>('platform/clock.js');
const { Log } = await built<typeof import('../../../src/platform/observability/logging/log.js')>(
  'platform/observability/logging/log.js',
);
const { GlobalValue } =
  await built<typeof import('../../../src/platform/global-value.js')>('platform/global-value.js');
const { Metrics } = await built<typeof import('../../../src/platform/observability/metrics/metrics.js')>(
  'platform/observability/metrics/metrics.js',
);
const { Env } = await built<typeof import('../../../src/platform/config/env.js')>('platform/config/env.js');
const { Database } = await built<typeof import('../../../src/store/database.js')>('store/database.js');
const { DatabaseModule } =
  await built<typeof import('../../../src/store/database.module.js')>('store/database.module.js');
const { IdBlocks } =
  await built<typeof import('../../../src/store/ids/id-blocks.js')>('store/ids/id-blocks.js');
const { Table } = await built<typeof import('../../../src/store/tables/table.js')>('store/tables/table.js');
const { SCHEMA } = await built<typeof import('../../../src/schema.js')>('schema.js');
const { JobHandlersService } = await built<typeof import('../../../src/jobs/queue/job-handlers.service.js')>(
  'jobs/queue/job-handlers.service.js',
);
const { JobQueueService } = await built<typeof import('../../../src/jobs/queue/job-queue.service.js')>(
  'jobs/queue/job-queue.service.js',
);
const { JobsModule } = await built<typeof import('../../../src/jobs/jobs.module.js')>('jobs/jobs.module.js');
const { JobWorkersModule } = await built<typeof import('../../../src/jobs/job-workers.module.js')>(
  'jobs/job-workers.module.js',
);

@Global()
@Module({ providers: [Clock, Metrics], exports: [Clock, Metrics] })
class EnvironmentModule {}

const env = Env.parse('maintenance', process.env);

@Module({
  imports: [
    GlobalValue.of(env),
    GlobalValue.of(new Log(env)),
    DatabaseModule.of(SCHEMA),
    EnvironmentModule,
    JobsModule,
    JobWorkersModule,
  ],
})
class ReplicaModule {}

const context = await NestFactory.createApplicationContext(ReplicaModule, { logger: false });
const [database, queue, ids] = [context.get(Database), context.get(JobQueueService), context.get(IdBlocks)];
const [jobs, events] = [new Table(BenchJob), new Table(BenchEvent)];

context.get(JobHandlersService).register({
  kind: KIND,
  run: async (job: Job) => {
    const { id } = job;
    await database.writeTogether(async (manager) => {
      const now = new Date();
      await jobs.update(manager, { id }, { endedAt: now });
      await events.insert(manager, [{ jobId: id, at: now }]);
      await queue.complete(manager, job);
    });
  },
});

async function add({ count, begin, everyMs }: JobsRequest): Promise<void> {
  for (let done = 0; done < count; done += BATCH_SIZE) {
    const some = Math.min(BATCH_SIZE, count - done);
    const first = await ids.next('job', some);
    const rows = Array.from({ length: some }, (_, index) => ({
      id: first + index,
      due: new Date(begin + (done + index) * everyMs),
    }));
    await database.write(async (manager) => {
      await jobs.insert(
        manager,
        rows.map((row) => ({ ...row, endedAt: null })),
      );
      await queue.add(
        manager,
        rows.map(({ id, due }) => ({ id, kind: KIND, availableAt: due, payload: {} })),
      );
    });
  }
  queue.wake();
}

process.on('message', (request: JobsRequest) => {
  void add(request).then(() => process.send?.({ added: request.count }));
});
process.send?.({ port: 0 });
