import { Global, Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { expect, vi } from 'vitest';
import { Clock } from '../../../src/platform/clock.js';
import { Log } from '../../../src/platform/observability/logging/log.js';
import { Metrics } from '../../../src/platform/observability/metrics/metrics.js';
import { GlobalValue } from '../../../src/platform/global-value.js';
import { Database } from '../../../src/store/database.js';
import { DatabaseModule } from '../../../src/store/database.module.js';
import { IdBlocks } from '../../../src/store/ids/id-blocks.js';
import { SCHEMA } from '../../../src/schema.js';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { JobHandlersService } from '../../../src/jobs/queue/job-handlers.service.js';
import { JobQueueService } from '../../../src/jobs/queue/job-queue.service.js';
import type { JobHandler, NewJob } from '../../../src/jobs/model/job-queue.types.js';
import { JobWorkersModule } from '../../../src/jobs/job-workers.module.js';
import { JobsModule } from '../../../src/jobs/jobs.module.js';
import { limitedEnv } from '../../support/limits/limits.js';

/** Whether the tests run on SQLite, which supports only one replica. */
export const IS_EMBEDDED = String(process.env['DATABASE_URL']).startsWith('sqlite:');

/** Clock that a test can advance. Leases follow it on SQLite only. */
export class TestClock extends Clock {
  aheadMs = 0;
  override now(): Date {
    return new Date(Date.now() + this.aheadMs);
  }
}

/** Lets a test decide when waiting code continues. */
export class Gate {
  open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

const SETTINGS = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  'jobLimits.pollMs': '20',
  'jobLimits.retryBaseMs': '1',
  'jobLimits.retryMaxMs': '20',
};

/** The jobs module of one replica on the database of this test worker. */
export class JobReplica {
  private constructor(
    private readonly context: INestApplicationContext,
    readonly clock: TestClock,
  ) {}

  /**
   * @param handlers creates the handlers, which are registered before the workers start
   * @param settings variables in addition to the defaults of these tests
   */
  static async start(
    handlers: (replica: JobReplica) => JobHandler[],
    settings: Record<string, string> = {},
  ): Promise<JobReplica> {
    const env = limitedEnv('maintenance', {
      ...SETTINGS,
      DATABASE_URL: process.env['DATABASE_URL'],
      ...(JSON.parse(process.env['TEST_DATABASE_SETTINGS'] ?? '{}') as Record<string, string>),
      ...settings,
    });
    const clock = new TestClock();
    let replica: JobReplica | undefined;

    @Global()
    @Module({
      providers: [{ provide: Clock, useValue: clock }, Metrics],
      exports: [Clock, Metrics],
    })
    class EnvironmentModule {}

    @Module({
      imports: [
        GlobalValue.of(env),
        GlobalValue.of(new Log(env)),
        EnvironmentModule,
        DatabaseModule.of(SCHEMA),
        JobsModule,
        JobWorkersModule,
      ],
    })
    class ReplicaModule {
      onModuleInit(): void {
        handlers(current()).forEach((handler) => current().handlers.register(handler));
      }
    }
    const current = (): JobReplica => {
      if (replica === undefined) {
        throw new Error('not started');
      }
      return replica;
    };
    const context = await NestFactory.create(ReplicaModule, { logger: false });
    replica = new JobReplica(context, clock);
    await context.init();
    return replica;
  }

  get database(): Database {
    return this.context.get(Database);
  }

  get handlers(): JobHandlersService {
    return this.context.get(JobHandlersService);
  }

  get queue(): JobQueueService {
    return this.context.get(JobQueueService);
  }

  get ids(): IdBlocks {
    return this.context.get(IdBlocks);
  }

  get metrics(): Metrics {
    return this.context.get(Metrics);
  }

  get<T>(type: new (...args: never[]) => T): T {
    return this.context.get(type);
  }

  /** Adds jobs in one transaction, due immediately by default, and wakes the workers. */
  async add(...jobs: (Partial<NewJob> & { kind: string })[]): Promise<number[]> {
    const first = await this.ids.next('job', jobs.length);
    const rows = jobs.map((job, index) => ({
      availableAt: new Date(this.clock.now().getTime() - 1_000),
      payload: {},
      ...job,
      id: first + index,
    }));
    await this.database.write((manager) => this.queue.add(manager, rows));
    this.queue.wake();
    return rows.map(({ id }) => id);
  }

  /** Returns every stored job, in the order of ids. */
  async stored(): Promise<RuntimeJobEntity[]> {
    const rows = await this.database.read((manager) => manager.find(RuntimeJobEntity));
    return rows.toSorted((one, other) => one.id - other.id);
  }

  /** Waits until no job is stored any more. */
  async drained(): Promise<void> {
    await vi.waitFor(async () => expect(await this.stored()).toEqual([]), {
      interval: 10,
    });
  }

  async clear(): Promise<void> {
    await this.database.write((manager) => manager.clear(RuntimeJobEntity));
  }

  stop(): Promise<void> {
    return this.context.close();
  }
}
