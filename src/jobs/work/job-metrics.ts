import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Clock } from '../../platform/clock.js';
import { withinScrapeTime, Metrics } from '../../platform/observability/metrics/metrics.js';
import { JOB_LANES, type JobLane } from '../model/job-queue.types.js';
import { JobHandlersService } from '../queue/job-handlers.service.js';
import { JobsRepository } from '../storage/jobs.repository.js';

/** Metrics of the delay of background jobs, measured at each scrape. */
@Injectable()
export class JobMetrics implements OnApplicationBootstrap {
  constructor(
    private readonly metrics: Metrics,
    private readonly handlers: JobHandlersService,
    jobs: JobsRepository,
    clock: Clock,
  ) {
    const { registry } = metrics;
    const age = {
      name: 'svc_job_queue_age_seconds',
      help: 'Time since the oldest background job that is not running was first due: it waits for a worker or was postponed after a failure; 0 when there is none. Absent while the database does not answer.',
    };
    registry.registerMetric(ageGauge(age, (lane) => jobs.oldest('dueAt', lane), clock));
    const wait = {
      name: 'svc_job_wait_seconds',
      help: 'How long the first background job has waited for a worker, not counting the delay of postponed jobs; 0 when there is none. Absent while the database does not answer.',
    };
    registry.registerMetric(ageGauge(wait, (lane) => jobs.oldest('availableAt', lane), clock));
  }

  /** Starts counters at 0, because alerts on an increase miss the first event of a counter that did not exist. */
  onApplicationBootstrap(): void {
    for (const kind of this.handlers.kinds) {
      if (this.handlers.find(kind)?.giveUp !== undefined) {
        this.metrics.jobDuration.zero({ kind, outcome: 'given_up' });
      }
    }
  }
}

function ageGauge(
  description: { name: string; help: string },
  since: (lane: JobLane) => Promise<Date | undefined>,
  clock: Clock,
): Gauge {
  return new Gauge({
    ...description,
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
      await withinScrapeTime(measure());
    },
  });
}
