import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Clock } from '../../../common/clock.js';
import { inScrapeTime } from '../../../common/metrics/in-scrape-time.js';
import { Metrics } from '../../../common/metrics/metrics.js';
import type { JobBroker } from '../broker/job-broker.js';
import { JobRelay } from '../broker/job-relay.js';
import { JOB_LANES, type JobLane } from '../model/job-lane.js';
import { JobHandlersService } from '../queue/job-handlers.service.js';
import { JobsRepository } from '../storage/jobs.repository.js';

/** How far background jobs are behind, and whether Redis hands them out, read whenever somebody asks for the metrics. */
@Injectable()
export class JobMetrics implements OnApplicationBootstrap {
  constructor(
    private readonly metrics: Metrics,
    private readonly handlers: JobHandlersService,
    jobs: JobsRepository,
    clock: Clock,
    { broker }: JobRelay,
  ) {
    const { registry } = metrics;
    const age = {
      name: 'svc_job_queue_age_seconds',
      help: 'How long ago the oldest background job was to be done that nobody works at: it waits for a worker, or was put off after a failure; 0 when there is none. Absent while the database does not answer.',
    };
    registry.registerMetric(ageGauge(age, (lane) => jobs.oldestDue(lane), clock));
    const wait = {
      name: 'svc_job_wait_seconds',
      help: 'How long the first background job has waited for a worker. A job that was put off waits for none until its pause is over; 0 when there is none. Absent while the database does not answer.',
    };
    registry.registerMetric(ageGauge(wait, (lane) => jobs.oldestReady(lane), clock));
    if (broker !== undefined) {
      registry.registerMetric(redisGauge(broker));
      registry.registerMetric(redisFailureCounter(broker));
    }
  }

  /** Who watches a count for its growth sees the first one only where there was a 0 before. */
  onApplicationBootstrap(): void {
    for (const kind of this.handlers.kinds) {
      if (this.handlers.find(kind)?.giveUp !== undefined) {
        this.metrics.jobDuration.zero({ kind, outcome: 'given_up' });
      }
    }
  }
}

function redisGauge(broker: JobBroker): Gauge {
  return new Gauge({
    name: 'svc_job_redis_in_use',
    help: '1 while Redis hands out background jobs, 0 while this replica looks into the table because Redis is away, silent or refuses. None without REDIS_URL.',
    registers: [],
    collect() {
      this.set(broker.isReady ? 1 : 0);
    },
  });
}

function redisFailureCounter(broker: JobBroker): Counter {
  return new Counter({
    name: 'svc_job_redis_failures_total',
    help: 'How often Redis did not do for background jobs what it was asked, by code: TIMEOUT, or the first word of its answer. None without REDIS_URL.',
    labelNames: ['code'],
    registers: [],
    collect() {
      this.reset();
      broker.failures.forEach((count, code) => this.inc({ code }, count));
    },
  });
}

function ageGauge(
  told: { name: string; help: string },
  since: (lane: JobLane) => Promise<Date | undefined>,
  clock: Clock,
): Gauge {
  return new Gauge({
    ...told,
    labelNames: ['lane'],
    registers: [],
    async collect() {
      this.reset();
      const measure = async (): Promise<void> => {
        for (const lane of JOB_LANES) {
          const begin = await since(lane);
          const ageMs = begin === undefined ? 0 : clock.now().getTime() - begin.getTime();
          this.set({ lane }, Math.max(0, ageMs) / 1_000);
        }
      };
      await inScrapeTime(measure());
    },
  });
}
