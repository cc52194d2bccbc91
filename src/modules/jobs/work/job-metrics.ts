import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Clock } from '../../../common/clock.js';
import { inScrapeTime } from '../../../common/metrics/in-scrape-time.js';
import { Metrics } from '../../../common/metrics/metrics.js';
import { JOB_LANES } from '../model/job-lane.js';
import { JobsRepository } from '../storage/jobs.repository.js';

/** How far background jobs are behind, read whenever somebody asks for the metrics. */
@Injectable()
export class JobMetrics {
  constructor({ registry }: Metrics, jobs: JobsRepository, clock: Clock) {
    registry.registerMetric(queueAgeGauge(jobs, clock));
  }
}

function queueAgeGauge(jobs: JobsRepository, clock: Clock): Gauge {
  return new Gauge({
    name: 'svc_job_queue_age_seconds',
    help: 'How long ago the oldest background job was to be done that nobody works at: it waits for a worker, or was put off after a failure; 0 when there is none. Absent while the database does not answer.',
    labelNames: ['lane'],
    registers: [],
    async collect() {
      this.reset();
      const measure = async (): Promise<void> => {
        for (const lane of JOB_LANES) {
          const since = await jobs.oldestDue(lane);
          const ageMs = since === undefined ? 0 : clock.now().getTime() - since.getTime();
          this.set({ lane }, Math.max(0, ageMs) / 1_000);
        }
      };
      await inScrapeTime(measure());
    },
  });
}
