import { Injectable } from '@nestjs/common';
import { Log } from '../../../common/logging/log.js';
import { Metrics } from '../../../common/metrics/metrics.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { INCIDENT_SOURCES, INCIDENT_TYPES } from '../engine/state/engine.types.js';
import type { IncidentHead } from '../storage/incidents.repository.js';
import type { InstanceHead } from '../storage/instance.row.js';
import { InstanceSignals } from './instance-signals.js';
import type { Written } from './step-writer.js';

const WARNINGS_LOGGED = 5;

/** What is told of an instance. */
type Stepped = Pick<InstanceHead, 'id' | 'uuid' | 'appId' | 'processName'>;

/** Tells workers, readers, metrics and the log about a step once its transaction was committed. */
@Injectable()
export class StepNotices {
  constructor(
    private readonly queue: JobQueueService,
    private readonly signals: InstanceSignals,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {
    // Who watches a count for its growth sees the first one only where there was a 0 before.
    for (const source of INCIDENT_SOURCES) {
      INCIDENT_TYPES.forEach((type) => metrics.processIncidents.inc({ source, type }, 0));
    }
  }

  /** An instance has changed: workers are woken where there is work for them. */
  committed(instance: Stepped, { hasWork, raised }: Written, warnings: readonly string[]): void {
    if (hasWork) {
      this.queue.wake();
    }
    this.signals.changed(instance.id);
    raised.forEach((incident) => this.stopped(instance, incident));
    this.warned(instance, warnings);
  }

  /** An incident was recorded. */
  stopped(instance: Stepped, { uuid: incident, source, type, node, element }: IncidentHead): void {
    const { uuid, appId: app, processName: process } = instance;
    this.metrics.processIncidents.inc({ source, type });
    const place = { app, process, element, code: type };
    this.log.warn('process incident', { instance: uuid, incident, source, type, node, ...place });
    this.signals.changed(instance.id);
  }

  /** What a step came across that nobody has to act on. */
  private warned(instance: { uuid: string }, warnings: readonly string[]): void {
    if (warnings.length > 0) {
      const first = warnings.slice(0, WARNINGS_LOGGED).join('; ');
      this.log.warn('process step with warnings', {
        instance: instance.uuid,
        count: warnings.length,
        warnings: first,
      });
    }
  }
}
